"""`python3 wheel.py <package> <folder>`: writes the wheel and the source distribution of a pure Python package, and prints their names.

It needs only the standard library, and the same sources give the same bytes: every file has the time of SOURCE_DATE_EPOCH. It reads what our own
pyproject.toml has, and no other.
"""

import base64
import gzip
import hashlib
import io
import os
import re
import sys
import tarfile
import time
import zipfile
from pathlib import Path

source, target = Path(sys.argv[1]), Path(sys.argv[2])
project = (source / "pyproject.toml").read_text("utf-8")
when = max(int(os.environ.get("SOURCE_DATE_EPOCH", "315532800")), 315532800)


def field(name: str) -> str:
    found = re.search(rf'^{name} = (?:{{ text = )?"([^"]*)"', project, re.MULTILINE)
    if found is None:
        raise SystemExit(f"pyproject.toml has no {name}")
    return found.group(1)


name = field("name")
version = re.search(r'"([^"]+)"', (source / name / "_version.py").read_text("utf-8").split("=", 1)[1]).group(1)
classifiers = re.findall(r'^  "(.* :: .*)",$', project, re.MULTILINE)
metadata = "\n".join(
    [
        "Metadata-Version: 2.1",
        f"Name: {name}",
        f"Version: {version}",
        f"Summary: {field('description')}",
        f"License: {field('license')}",
        *[f"Classifier: {one}" for one in classifiers],
        f"Requires-Python: {field('requires-python')}",
        "Description-Content-Type: text/markdown",
        "License-File: LICENSE",
        "",
        (source / "README.md").read_text("utf-8"),
    ]
)
modules = sorted(path for path in (source / name).rglob("*") if path.is_file() and "__pycache__" not in path.parts)
target.mkdir(parents=True, exist_ok=True)

files = {str(path.relative_to(source)): path.read_bytes() for path in modules}
info = f"{name}-{version}.dist-info"
files[f"{info}/LICENSE"] = (source / "LICENSE").read_bytes()
files[f"{info}/METADATA"] = metadata.encode()
files[f"{info}/WHEEL"] = b"Wheel-Version: 1.0\nGenerator: rungate\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
record = [
    f"{path},sha256={base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b'=').decode()},{len(data)}"
    for path, data in files.items()
]
files[f"{info}/RECORD"] = "\n".join([*record, f"{info}/RECORD,,", ""]).encode()
wheel = target / f"{name}-{version}-py3-none-any.whl"
with zipfile.ZipFile(wheel, "w", zipfile.ZIP_DEFLATED) as archive:
    for path, data in files.items():
        entry = zipfile.ZipInfo(path, time.gmtime(when)[:6])
        entry.compress_type = zipfile.ZIP_DEFLATED
        entry.external_attr = 0o644 << 16
        archive.writestr(entry, data)

base = f"{name}-{version}"
sources = {
    f"{base}/PKG-INFO": metadata.encode(),
    **{f"{base}/{one}": (source / one).read_bytes() for one in ("LICENSE", "README.md", "pyproject.toml")},
    **{f"{base}/{path.relative_to(source)}": path.read_bytes() for path in modules},
}
packed = io.BytesIO()
with tarfile.open(fileobj=packed, mode="w", format=tarfile.PAX_FORMAT) as archive:
    for path, data in sources.items():
        entry = tarfile.TarInfo(path)
        entry.size, entry.mtime, entry.mode = len(data), when, 0o644
        archive.addfile(entry, io.BytesIO(data))
sdist = target / f"{base}.tar.gz"
sdist.write_bytes(gzip.compress(packed.getvalue(), mtime=when))
print(wheel.name, sdist.name, sep="\n")
