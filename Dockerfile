# One image for every part of Rungate: `serve` (also with --role), `migrate`, operator's commands and the client's.
#
#   docker build -t rungate .
#   docker run --read-only --tmpfs /tmp -v rungate:/data -p 127.0.0.1:8787:8787 rungate
#
# The second starts the sandbox with a database of its own in /data, and prints a test key. compose.yaml has PostgreSQL and Valkey beside it.
# For amd64 and arm64: docker buildx build --platform linux/amd64,linux/arm64 -t rungate .

FROM node:22-bookworm-slim AS build
WORKDIR /build
COPY package.json package-lock.json ./
RUN npm ci --no-audit --no-fund --loglevel=error
COPY . .
# Builds the service, the command and the console. What only that needed is removed.
RUN npm run --silent prepack \
  && npm prune --omit=dev --no-audit --no-fund --loglevel=error \
  && rm -rf test packages deploy .github .ci

FROM debian:bookworm-slim
RUN groupadd --system --gid 10001 rungate \
  && useradd --uid 10001 --gid rungate --no-create-home --home-dir /data --shell /usr/sbin/nologin rungate \
  && install --directory --owner=rungate --group=rungate /data \
  && ln -s /opt/rungate/node_modules/rungate/scripts/rungate /usr/local/bin/rungate \
  && ln -s /opt/rungate/node_modules/rungate/scripts/healthy /usr/local/bin/rungate-healthy
# Among packages, as if npm had installed it, the command takes the built files as they are.
COPY --from=build /build /opt/rungate/node_modules/rungate
ENV HOME=/data HOST=0.0.0.0 PORT=8787 RUNGATE_DATA_DIR=/data/database RUNGATE_METRICS_HOST=0.0.0.0
USER 10001:10001
WORKDIR /data
VOLUME /data
EXPOSE 8787
HEALTHCHECK --interval=10s --timeout=5s --start-period=60s --retries=3 CMD ["rungate-healthy"]
STOPSIGNAL SIGTERM
ENTRYPOINT ["rungate"]
CMD ["serve"]
