# mypy: disable-error-code="no-any-return"
"""Generated from the OpenAPI document of the service."""

from __future__ import annotations

import ssl
import uuid
from typing import TYPE_CHECKING, Any, Dict, Iterator, List, Literal, Sequence

from ._events import Event, follow
from ._pages import Pages
from ._transport import Settings, Transport, segment

if TYPE_CHECKING:
    from . import types


class Runs:
    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def run(self, body: types.RunRequest, *, idempotency_key: str | None = None) -> types.Run | types.PendingRun:
        """Run a capability or a raw endpoint"""
        return self._transport.call(
            "POST",
            "/v1/run",
            body=body,
            idempotency_key=idempotency_key or str(uuid.uuid4()),
            repeatable=True,
        )

    def list(
        self,
        *,
        limit: int | None = None,
        from_: str | None = None,
        to: str | None = None,
        status: Literal["created", "reserved", "queued", "running", "succeeded", "no_match", "failed", "timed_out", "blocked", "cancelled"] | None = None,
        capability: str | None = None,
        provider: str | None = None,
        endpoint: str | None = None,
        key_id: str | None = None,
        metadata: Dict[str, str] | None = None,
    ) -> Pages[types.ListedRun]:
        """List runs

        limit: The maximum number of items in the response.
        from_: Only from this date or time on, UTC.
        to: Only before this time, UTC. A date includes its day.
        status: Only runs in this status.
        capability: Only runs of this capability.
        provider: Slug of a provider.
        endpoint: Only raw runs of this endpoint path.
        key_id: Id of an API key, `key_…`.
        metadata: Only runs with this label, such as `metadata.campaign=spring`. Several labels must all match.
        """
        return Pages(lambda cursor: self._transport.call(
            "GET",
            "/v1/runs",
            query={"limit": limit, "from": from_, "to": to, "status": status, "capability": capability, "provider": provider, "endpoint": endpoint, "key_id": key_id, "metadata": metadata, "cursor": cursor},
            repeatable=True,
        ))

    def get(self, run_id: str, *, wait: int | None = None) -> types.Run:
        """Read a run

        wait: Seconds to wait for the end of the run.
        """
        return self._transport.call(
            "GET",
            f"/v1/runs/{segment('run_id', run_id)}",
            query={"wait": wait},
            repeatable=True,
        )

    def details(self, run_id: str) -> types.RunDetails:
        """Read what a run asked for, and why it went as it did"""
        return self._transport.call("GET", f"/v1/runs/{segment('run_id', run_id)}/details", repeatable=True)

    def cancel(self, run_id: str) -> types.Run:
        """Cancel a run"""
        return self._transport.call("POST", f"/v1/runs/{segment('run_id', run_id)}/cancel")


class Batches:
    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def create(
        self,
        body: types.BatchRequest | str,
        *,
        capability: str | None = None,
        map: str | None = None,
        max_total: types.Usd | None = None,
        idempotency_key: str | None = None,
    ) -> types.Batch:
        """Start a batch

        capability: With a CSV body, and required then: the capability that runs for each line.
        map: With a CSV body: which column fills which field, such as `full_name=Name,company_domain=Website`. Without it, the names of the columns decide: `First Name` fills `first_name`.
        max_total: With a CSV body: the most that all runs of the batch hold and charge together, such as `25.00`.
        """
        return self._transport.call(
            "POST",
            "/v1/batches",
            query={"capability": capability, "map": map, "max_total": max_total},
            body=body,
            idempotency_key=idempotency_key or str(uuid.uuid4()),
            repeatable=True,
        )

    def list(self, *, limit: int | None = None) -> Pages[types.Batch]:
        """List batches

        limit: The maximum number of items in the response.
        """
        return Pages(lambda cursor: self._transport.call(
            "GET",
            "/v1/batches",
            query={"limit": limit, "cursor": cursor},
            repeatable=True,
        ))

    def get(self, batch_id: str) -> types.Batch:
        """Read a batch"""
        return self._transport.call("GET", f"/v1/batches/{segment('batch_id', batch_id)}", repeatable=True)

    def results(self, batch_id: str, *, limit: int | None = None, cursor: str | None = None) -> str:
        """Read a batch's results

        limit: The maximum number of items in the response.
        cursor: `next_cursor` of the page before.
        """
        return self._transport.call(
            "GET",
            f"/v1/batches/{segment('batch_id', batch_id)}/results",
            query={"limit": limit, "cursor": cursor},
            repeatable=True,
            accept="application/x-ndjson",
        )

    def retry(self, batch_id: str, body: types.BatchRetry | None = None) -> types.Batch:
        """Retry a batch's blocked rows"""
        return self._transport.call(
            "POST",
            f"/v1/batches/{segment('batch_id', batch_id)}/retry",
            body={} if body is None else body,
        )

    def cancel(self, batch_id: str) -> types.Batch:
        """Cancel a batch"""
        return self._transport.call("POST", f"/v1/batches/{segment('batch_id', batch_id)}/cancel")


class Quotes:
    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def quote(self, body: types.RunRequest) -> types.Quote:
        """Quote a run"""
        return self._transport.call("POST", "/v1/quote", body=body, repeatable=True)


class Receipts:
    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def get(self, run_id: str) -> str:
        """Read a run's receipt"""
        return self._transport.call(
            "GET",
            f"/v1/runs/{segment('run_id', run_id)}/receipt",
            repeatable=True,
            accept="application/jose",
        )

    def heads(self, *, limit: int | None = None) -> Pages[types.LedgerHead]:
        """List signed ledger heads

        limit: The maximum number of items in the response.
        """
        return Pages(lambda cursor: self._transport.call(
            "GET",
            "/v1/wallet/heads",
            query={"limit": limit, "cursor": cursor},
            repeatable=True,
        ))

    def chain(self, *, limit: int | None = None) -> Pages[types.ChainEntry]:
        """List ledger entries with their hashes

        limit: The maximum number of items in the response.
        """
        return Pages(lambda cursor: self._transport.call(
            "GET",
            "/v1/wallet/chain",
            query={"limit": limit, "cursor": cursor},
            repeatable=True,
        ))


class Simulations:
    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def simulate(self, body: types.SimulationRequest) -> types.Simulation:
        """Simulate a routing policy"""
        return self._transport.call("POST", "/v1/simulate", body=body)


class Disputes:
    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def dispute(self, run_id: str, body: types.DisputeRequest) -> types.Dispute:
        """Dispute a run whose address bounced"""
        return self._transport.call("POST", f"/v1/runs/{segment('run_id', run_id)}/dispute", body=body)

    def get(self, run_id: str) -> types.Dispute:
        """Read a run's dispute"""
        return self._transport.call("GET", f"/v1/runs/{segment('run_id', run_id)}/dispute", repeatable=True)


class History:
    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def get(
        self,
        *,
        q: str,
        kind: Literal["email", "domain", "network", "url", "handle", "phone", "text"] | None = None,
        limit: int | None = None,
    ) -> types.History:
        """Look up a subject

        q: E-mail address, domain, profile URL, handle, phone number or text to look up.
        kind: How to read `q`. Detected if left out.
        limit: The maximum number of items in the response.
        """
        return self._transport.call("GET", "/v1/history", query={"q": q, "kind": kind, "limit": limit}, repeatable=True)

    def batch(self, body: types.HistoryRequest) -> types.HistoryBatch:
        """Look up many subjects"""
        return self._transport.call("POST", "/v1/history", body=body, repeatable=True)

    def erase(
        self,
        *,
        q: str,
        kind: Literal["email", "domain", "network", "url", "handle", "phone", "text"] | None = None,
    ) -> types.HistoryErasure:
        """Erase a subject

        q: E-mail address, domain, profile URL, handle, phone number or text to look up.
        kind: How to read `q`. Detected if left out.
        """
        return self._transport.call("DELETE", "/v1/history", query={"q": q, "kind": kind})


class Discovery:
    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def discover(self, body: types.DiscoverRequest) -> types.DiscoveryDiscoverAnswer:
        """Search the catalog"""
        return self._transport.call("POST", "/v1/discover", body=body, repeatable=True)

    def capabilities(self, *, limit: int | None = None) -> Pages[types.ListedCapability]:
        """List the capabilities

        limit: The maximum number of items in the response.
        """
        return Pages(lambda cursor: self._transport.call(
            "GET",
            "/v1/catalog/capabilities",
            query={"limit": limit, "cursor": cursor},
            repeatable=True,
        ))

    def providers(self, *, limit: int | None = None) -> Pages[types.CatalogProvider]:
        """List the providers

        limit: The maximum number of items in the response.
        """
        return Pages(lambda cursor: self._transport.call(
            "GET",
            "/v1/catalog/providers",
            query={"limit": limit, "cursor": cursor},
            repeatable=True,
        ))

    def provider(self, provider: str) -> types.CatalogProvider:
        """Read a provider"""
        return self._transport.call("GET", f"/v1/catalog/providers/{segment('provider', provider)}", repeatable=True)

    def endpoints(self, provider: str, *, limit: int | None = None) -> Pages[types.ListedEndpoint]:
        """List a provider's raw endpoints

        limit: The maximum number of items in the response.
        """
        return Pages(lambda cursor: self._transport.call(
            "GET",
            f"/v1/catalog/providers/{segment('provider', provider)}/endpoints",
            query={"limit": limit, "cursor": cursor},
            repeatable=True,
        ))


class Catalog:
    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def inspect(self, body: types.InspectRequest | None = None) -> types.Capability | types.Endpoint:
        """Inspect a capability or a raw endpoint"""
        return self._transport.call("POST", "/v1/inspect", body={} if body is None else body, repeatable=True)


class Wallet:
    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def get(self) -> types.Wallet:
        """Read the wallet"""
        return self._transport.call("GET", "/v1/wallet", repeatable=True)

    def transactions(
        self,
        *,
        limit: int | None = None,
        from_: str | None = None,
        to: str | None = None,
        type: Literal["reserve", "settle", "release", "topup", "bonus", "refund"] | None = None,
        run_id: str | None = None,
    ) -> Pages[types.Transaction]:
        """List ledger entries

        limit: The maximum number of items in the response.
        from_: Only from this date or time on, UTC.
        to: Only before this time, UTC. A date includes its day.
        type: Only entries of this type.
        run_id: Only entries of this run.
        """
        return Pages(lambda cursor: self._transport.call(
            "GET",
            "/v1/wallet/transactions",
            query={"limit": limit, "from": from_, "to": to, "type": type, "run_id": run_id, "cursor": cursor},
            repeatable=True,
        ))

    def audit(self) -> types.WalletAudit:
        """Audit the wallet"""
        return self._transport.call("GET", "/v1/wallet/audit", repeatable=True)

    def guard(self) -> types.SpendGuard:
        """Read the spend guard"""
        return self._transport.call("GET", "/v1/spend-guard", repeatable=True)

    def set_guard(self, body: types.SpendGuardRequest | None = None) -> types.SpendGuard:
        """Set the spend guard"""
        return self._transport.call("POST", "/v1/spend-guard", body={} if body is None else body)


class Usage:
    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def get(
        self,
        *,
        limit: int | None = None,
        from_: str | None = None,
        to: str | None = None,
        group_by: str | None = None,
    ) -> Pages[types.UsageItem]:
        """Read usage

        limit: The maximum number of items in the response.
        from_: Only from this date or time on, UTC.
        to: Only before this time, UTC. A date includes its day.
        group_by: Up to two of `day`, `capability`, `provider`, `key`, `endpoint`, `status` and `metadata.<name>`, separated by a comma.
        """
        return Pages(lambda cursor: self._transport.call(
            "GET",
            "/v1/usage",
            query={"limit": limit, "from": from_, "to": to, "group_by": group_by, "cursor": cursor},
            repeatable=True,
        ))


class Topups:
    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def checkout(self, body: types.CheckoutRequest) -> types.Checkout | types.SimulatedCheckout:
        """Top up"""
        return self._transport.call("POST", "/v1/wallet/topups/checkout", body=body)

    def auto_topup(self) -> types.AutoTopup:
        """Read the automatic top-up"""
        return self._transport.call("GET", "/v1/wallet/auto-topup", repeatable=True)

    def set_auto_topup(self, body: types.AutoTopupRequest) -> types.AutoTopup:
        """Set the automatic top-up"""
        return self._transport.call("POST", "/v1/wallet/auto-topup", body=body)


class Referrals:
    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def program(self) -> types.ReferralProgram:
        """Read the referral program"""
        return self._transport.call("GET", "/v1/referrals", repeatable=True)


class Keys:
    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def list(self, *, limit: int | None = None) -> Pages[types.ApiKey]:
        """List API keys

        limit: The maximum number of items in the response.
        """
        return Pages(lambda cursor: self._transport.call(
            "GET",
            "/v1/api-keys",
            query={"limit": limit, "cursor": cursor},
            repeatable=True,
        ))

    def create(self, body: types.ApiKeyRequest) -> types.NewApiKey:
        """Create an API key"""
        return self._transport.call("POST", "/v1/api-keys", body=body)

    def get(self, key_id: str) -> types.ApiKey:
        """Read an API key"""
        return self._transport.call("GET", f"/v1/api-keys/{segment('key_id', key_id)}", repeatable=True)

    def change(self, key_id: str, body: types.ApiKeyChange | None = None) -> types.ApiKey:
        """Change an API key"""
        return self._transport.call(
            "PATCH",
            f"/v1/api-keys/{segment('key_id', key_id)}",
            body={} if body is None else body,
        )

    def revoke(self, key_id: str) -> types.ApiKey:
        """Revoke an API key"""
        return self._transport.call("DELETE", f"/v1/api-keys/{segment('key_id', key_id)}")

    def rotate(self, key_id: str, body: types.ApiKeyRotation | None = None) -> types.NewApiKey:
        """Rotate an API key"""
        return self._transport.call(
            "POST",
            f"/v1/api-keys/{segment('key_id', key_id)}/rotate",
            body={} if body is None else body,
        )


class Allowances:
    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def list(self, *, limit: int | None = None) -> Pages[types.Allowance]:
        """List allowances

        limit: The maximum number of items in the response.
        """
        return Pages(lambda cursor: self._transport.call(
            "GET",
            "/v1/allowances",
            query={"limit": limit, "cursor": cursor},
            repeatable=True,
        ))

    def create(self, body: types.AllowanceRequest, *, idempotency_key: str | None = None) -> types.NewAllowance:
        """Create an allowance"""
        return self._transport.call(
            "POST",
            "/v1/allowances",
            body=body,
            idempotency_key=idempotency_key or str(uuid.uuid4()),
            repeatable=True,
        )

    def get(self, allowance_id: str) -> types.Allowance:
        """Read an allowance"""
        return self._transport.call("GET", f"/v1/allowances/{segment('allowance_id', allowance_id)}", repeatable=True)

    def revoke(self, allowance_id: str) -> types.Allowance:
        """Revoke an allowance"""
        return self._transport.call("DELETE", f"/v1/allowances/{segment('allowance_id', allowance_id)}")


class LabelBudgets:
    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def list(self, *, limit: int | None = None) -> Pages[types.LabelBudget]:
        """List label budgets

        limit: The maximum number of items in the response.
        """
        return Pages(lambda cursor: self._transport.call(
            "GET",
            "/v1/label-budgets",
            query={"limit": limit, "cursor": cursor},
            repeatable=True,
        ))

    def set(self, body: types.LabelBudgetRequest) -> types.LabelBudget:
        """Set a label budget"""
        return self._transport.call("PUT", "/v1/label-budgets", body=body)

    def values(
        self,
        *,
        limit: int | None = None,
        label: str | None = None,
        id: str | None = None,
    ) -> Pages[types.LabelValue]:
        """List what is spent by value

        limit: The maximum number of items in the response.
        label: Name of a label in the metadata of runs, such as `customer`.
        id: Only the value with this id, `val_…`, which `budget.reached` names.
        """
        return Pages(lambda cursor: self._transport.call(
            "GET",
            "/v1/label-budgets/values",
            query={"limit": limit, "label": label, "id": id, "cursor": cursor},
            repeatable=True,
        ))

    def statement(
        self,
        *,
        limit: int | None = None,
        label: str,
        value: str,
        period: str | None = None,
    ) -> Pages[types.LabelStatementRun]:
        """Read a label's statement

        limit: The maximum number of items in the response.
        label: Name of a label in the metadata of runs, such as `customer`.
        value: Value of the label.
        period: A month such as `2026-11`, or a day such as `2026-11-21`. The default is the present month.
        """
        return Pages(lambda cursor: self._transport.call(
            "GET",
            "/v1/label-budgets/statement",
            query={"limit": limit, "label": label, "value": value, "period": period, "cursor": cursor},
            repeatable=True,
        ))

    def remove(self, label_budget_id: str) -> types.RemovedLabelBudget:
        """Remove a label budget"""
        return self._transport.call("DELETE", f"/v1/label-budgets/{segment('label_budget_id', label_budget_id)}")


class Approvals:
    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def rules(self, *, limit: int | None = None) -> Pages[types.ApprovalRule]:
        """List approval rules

        limit: The maximum number of items in the response.
        """
        return Pages(lambda cursor: self._transport.call(
            "GET",
            "/v1/approval-rules",
            query={"limit": limit, "cursor": cursor},
            repeatable=True,
        ))

    def add_rule(self, body: types.ApprovalRuleRequest) -> types.ApprovalRule:
        """Add an approval rule"""
        return self._transport.call("POST", "/v1/approval-rules", body=body)

    def change_rule(self, approval_rule_id: str, body: types.ApprovalRuleChange | None = None) -> types.ApprovalRule:
        """Change an approval rule"""
        return self._transport.call(
            "PATCH",
            f"/v1/approval-rules/{segment('approval_rule_id', approval_rule_id)}",
            body={} if body is None else body,
        )

    def remove_rule(self, approval_rule_id: str) -> types.RemovedApprovalRule:
        """Remove an approval rule"""
        return self._transport.call("DELETE", f"/v1/approval-rules/{segment('approval_rule_id', approval_rule_id)}")

    def list(
        self,
        *,
        limit: int | None = None,
        state: Literal["pending", "approved", "denied", "expired", "cancelled"] | None = None,
    ) -> Pages[types.Approval]:
        """List approvals

        limit: The maximum number of items in the response.
        state: Only payments in this state.
        """
        return Pages(lambda cursor: self._transport.call(
            "GET",
            "/v1/approvals",
            query={"limit": limit, "state": state, "cursor": cursor},
            repeatable=True,
        ))

    def get(self, run_id: str) -> types.Approval:
        """Read an approval"""
        return self._transport.call("GET", f"/v1/approvals/{segment('run_id', run_id)}", repeatable=True)

    def approve(self, run_id: str, body: types.ApprovalDecision | None = None) -> types.Approval:
        """Approve a run"""
        return self._transport.call(
            "POST",
            f"/v1/runs/{segment('run_id', run_id)}/approve",
            body={} if body is None else body,
        )

    def deny(self, run_id: str, body: types.ApprovalDecision | None = None) -> types.Approval:
        """Deny a run"""
        return self._transport.call(
            "POST",
            f"/v1/runs/{segment('run_id', run_id)}/deny",
            body={} if body is None else body,
        )

    def decide(self, body: types.ApprovalDecisions) -> types.ApprovalsDecided:
        """Decide many runs"""
        return self._transport.call("POST", "/v1/approvals/decide", body=body)


class OptOuts:
    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def list(self, *, limit: int | None = None) -> Pages[types.OptOut]:
        """List opt-outs

        limit: The maximum number of items in the response.
        """
        return Pages(lambda cursor: self._transport.call(
            "GET",
            "/v1/opt-outs",
            query={"limit": limit, "cursor": cursor},
            repeatable=True,
        ))

    def add(self, body: types.OptOutRequest) -> types.OptOutsAdded:
        """Add opt-outs"""
        return self._transport.call("POST", "/v1/opt-outs", body=body)

    def check(self, body: types.OptOutCheckRequest) -> types.OptOutsCheckAnswer:
        """Check opt-outs"""
        return self._transport.call("POST", "/v1/opt-outs/check", body=body)

    def import_(self) -> types.OptOutsAdded:
        """Import opt-outs"""
        return self._transport.call("POST", "/v1/opt-outs/import")

    def export(self) -> str:
        """Export opt-outs"""
        return self._transport.call("GET", "/v1/opt-outs/export", repeatable=True, accept="text/csv")

    def remove(self, opt_out_id: str) -> types.RemovedOptOut:
        """Remove an opt-out"""
        return self._transport.call("DELETE", f"/v1/opt-outs/{segment('opt_out_id', opt_out_id)}")


class Configuration:
    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def export(self) -> types.ConfigurationExport:
        """Export the configuration"""
        return self._transport.call("GET", "/v1/configuration", repeatable=True)

    def apply(self, body: types.ConfigurationRequest) -> types.AppliedConfiguration:
        """Apply a configuration"""
        return self._transport.call("PUT", "/v1/configuration", body=body)

    def preview(self, body: types.ConfigurationPreviewRequest) -> types.ConfigurationPreview:
        """Preview a configuration"""
        return self._transport.call("POST", "/v1/configuration/preview", body=body)


class Senders:
    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def list(self, *, limit: int | None = None) -> Pages[types.Sender]:
        """List senders

        limit: The maximum number of items in the response.
        """
        return Pages(lambda cursor: self._transport.call(
            "GET",
            "/v1/senders",
            query={"limit": limit, "cursor": cursor},
            repeatable=True,
        ))

    def add(self, body: types.SenderRequest) -> types.Sender:
        """Add a sender"""
        return self._transport.call("POST", "/v1/senders", body=body)

    def verify(self, sender_id: str) -> types.Sender:
        """Verify a sender"""
        return self._transport.call("POST", f"/v1/senders/{segment('sender_id', sender_id)}/verify")

    def remove(self, sender_id: str) -> types.RemovedSender:
        """Remove a sender"""
        return self._transport.call("DELETE", f"/v1/senders/{segment('sender_id', sender_id)}")


class Members:
    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def list(self, *, limit: int | None = None) -> Pages[types.Member]:
        """List members

        limit: The maximum number of items in the response.
        """
        return Pages(lambda cursor: self._transport.call(
            "GET",
            "/v1/members",
            query={"limit": limit, "cursor": cursor},
            repeatable=True,
        ))

    def set_role(self, member_id: str, body: types.MemberChange) -> types.Member:
        """Change a member's role"""
        return self._transport.call("PATCH", f"/v1/members/{segment('member_id', member_id)}", body=body)

    def remove(self, member_id: str, *, keep_keys: bool | None = None) -> types.RemovedMember:
        """Remove a member

        keep_keys: `true` keeps the API keys that the member created, each with the scope of a member's at most. Needs an owner.
        """
        return self._transport.call(
            "DELETE",
            f"/v1/members/{segment('member_id', member_id)}",
            query={"keep_keys": keep_keys},
        )

    def remove_factors(self, member_id: str) -> types.RemovedSecondFactors:
        """Remove a member's second factors"""
        return self._transport.call("DELETE", f"/v1/members/{segment('member_id', member_id)}/second-factors")


class Invitations:
    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def list(self, *, limit: int | None = None) -> Pages[types.Invitation]:
        """List invitations

        limit: The maximum number of items in the response.
        """
        return Pages(lambda cursor: self._transport.call(
            "GET",
            "/v1/invitations",
            query={"limit": limit, "cursor": cursor},
            repeatable=True,
        ))

    def create(self, body: types.InvitationRequest) -> types.NewInvitation:
        """Invite a person"""
        return self._transport.call("POST", "/v1/invitations", body=body)

    def withdraw(self, invitation_id: str) -> types.WithdrawnInvitation:
        """Withdraw an invitation"""
        return self._transport.call("DELETE", f"/v1/invitations/{segment('invitation_id', invitation_id)}")

    def preview(self, body: types.InvitationPreviewRequest) -> types.InvitationPreview:
        """Read an invitation"""
        return self._transport.call("POST", "/v1/invitations/preview", body=body)

    def accept(self, body: types.InvitationAcceptance) -> types.NewSession:
        """Accept an invitation"""
        return self._transport.call("POST", "/v1/invitations/accept", body=body)


class AuditLog:
    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def list(
        self,
        *,
        limit: int | None = None,
        actor: str | None = None,
        action: str | None = None,
        from_: str | None = None,
        to: str | None = None,
    ) -> Pages[types.AuditEntry]:
        """List changes

        limit: The maximum number of items in the response.
        actor: Only changes by this actor: an id, an e-mail address, or `person`, `key`, `operator` or `system`.
        action: Only this action, such as `key.revoked`, or all that begin with `key`.
        from_: Only from this date or time on, UTC.
        to: Only before this time, UTC. A date includes its day.
        """
        return Pages(lambda cursor: self._transport.call(
            "GET",
            "/v1/audit-log",
            query={"limit": limit, "actor": actor, "action": action, "from": from_, "to": to, "cursor": cursor},
            repeatable=True,
        ))


class Auth:
    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def sign_up(self, body: types.SignUpRequest) -> types.NewSession:
        """Sign up"""
        return self._transport.call("POST", "/v1/auth/sign-up", body=body)

    def sign_in(self, body: types.SignInRequest) -> types.NewSession:
        """Sign in"""
        return self._transport.call("POST", "/v1/auth/sign-in", body=body)

    def sign_out(self) -> types.AuthSignOutAnswer:
        """Sign out"""
        return self._transport.call("POST", "/v1/auth/sign-out")

    def end_sessions(self) -> types.AuthEndSessionsAnswer:
        """End all your sessions"""
        return self._transport.call("DELETE", "/v1/auth/sessions")

    def sessions(self) -> types.AuthSessionsAnswer:
        """List your sessions"""
        return self._transport.call("GET", "/v1/auth/sessions", repeatable=True)

    def end_session(self, session_id: str) -> types.EndedSession:
        """End one of your sessions"""
        return self._transport.call("DELETE", f"/v1/auth/sessions/{segment('session_id', session_id)}")

    def session(self) -> types.OwnSession:
        """Read the session"""
        return self._transport.call("GET", "/v1/auth/session", repeatable=True)


class Service:
    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def get(self) -> types.Service:
        """Read what this service is"""
        return self._transport.call("GET", "/v1/service", repeatable=True)


class Recovery:
    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def verify_email(self, body: types.VerifyEmailRequest) -> types.VerifiedEmail:
        """Verify an e-mail address"""
        return self._transport.call("POST", "/v1/auth/verify-email", body=body)

    def resend_verification(self) -> types.VerificationSent:
        """Send the verification link again"""
        return self._transport.call("POST", "/v1/auth/verify-email/resend")

    def change_password(self, body: types.PasswordChangeRequest) -> types.PasswordChanged:
        """Change the password"""
        return self._transport.call("POST", "/v1/auth/password", body=body)

    def second_factor(self) -> types.SecondFactor:
        """Read the second factor"""
        return self._transport.call("GET", "/v1/auth/second-factor", repeatable=True)

    def start_second_factor(self, body: types.SecondFactorRequest) -> types.NewSecondFactor:
        """Start a second factor"""
        return self._transport.call("POST", "/v1/auth/second-factor", body=body)

    def confirm_second_factor(self, body: types.SecondFactorConfirmation) -> types.RecoveryCodes:
        """Turn the second factor on"""
        return self._transport.call("POST", "/v1/auth/second-factor/confirm", body=body)

    def remove_second_factor(self, body: types.SecondFactorRemoval) -> types.SecondFactorRemoved:
        """Remove the second factor"""
        return self._transport.call("POST", "/v1/auth/second-factor/remove", body=body)

    def request_password_reset(self, body: types.PasswordResetRequest) -> types.PasswordResetAccepted:
        """Request a password reset"""
        return self._transport.call("POST", "/v1/auth/password-reset", body=body)

    def reset_password(self, body: types.PasswordResetConfirmation) -> types.PasswordSet:
        """Set a new password with a link"""
        return self._transport.call("POST", "/v1/auth/password-reset/confirm", body=body)


class Passkeys:
    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def list(self) -> types.PasskeysListAnswer:
        """List your passkeys"""
        return self._transport.call("GET", "/v1/auth/passkeys", repeatable=True)

    def create(self, body: types.PasskeyRequest) -> types.Passkey:
        """Add a passkey"""
        return self._transport.call("POST", "/v1/auth/passkeys", body=body)

    def start(self, body: types.PasskeyStart) -> types.PasskeyRegistration:
        """Start a passkey"""
        return self._transport.call("POST", "/v1/auth/passkeys/start", body=body)

    def rename(self, passkey_id: str, body: types.PasskeyChange) -> types.Passkey:
        """Rename a passkey"""
        return self._transport.call("PATCH", f"/v1/auth/passkeys/{segment('passkey_id', passkey_id)}", body=body)

    def remove(self, passkey_id: str) -> types.RemovedPasskey:
        """Remove a passkey"""
        return self._transport.call("DELETE", f"/v1/auth/passkeys/{segment('passkey_id', passkey_id)}")


class Webhooks:
    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def list(self) -> types.WebhooksListAnswer:
        """List webhook endpoints"""
        return self._transport.call("GET", "/v1/webhook-endpoints", repeatable=True)

    def create(self, body: types.WebhookEndpointRequest) -> types.NewWebhookEndpoint:
        """Create a webhook endpoint"""
        return self._transport.call("POST", "/v1/webhook-endpoints", body=body)

    def get(self, endpoint_id: str) -> types.WebhookEndpoint:
        """Get a webhook endpoint"""
        return self._transport.call(
            "GET",
            f"/v1/webhook-endpoints/{segment('endpoint_id', endpoint_id)}",
            repeatable=True,
        )

    def change(self, endpoint_id: str, body: types.WebhookEndpointChange | None = None) -> types.WebhookEndpoint:
        """Change a webhook endpoint"""
        return self._transport.call(
            "PATCH",
            f"/v1/webhook-endpoints/{segment('endpoint_id', endpoint_id)}",
            body={} if body is None else body,
        )

    def remove(self, endpoint_id: str) -> types.RemovedWebhookEndpoint:
        """Remove a webhook endpoint"""
        return self._transport.call("DELETE", f"/v1/webhook-endpoints/{segment('endpoint_id', endpoint_id)}")

    def rotate(self, endpoint_id: str, body: types.WebhookSecretRotation | None = None) -> types.NewWebhookEndpoint:
        """Rotate a webhook secret"""
        return self._transport.call(
            "POST",
            f"/v1/webhook-endpoints/{segment('endpoint_id', endpoint_id)}/rotate",
            body={} if body is None else body,
        )

    def deliveries(
        self,
        endpoint_id: str,
        *,
        limit: int | None = None,
        status: Literal["pending", "delivered", "failed"] | None = None,
    ) -> Pages[types.WebhookDelivery]:
        """List deliveries

        limit: The maximum number of items in the response.
        status: Only runs in this status.
        """
        return Pages(lambda cursor: self._transport.call(
            "GET",
            f"/v1/webhook-endpoints/{segment('endpoint_id', endpoint_id)}/deliveries",
            query={"limit": limit, "status": status, "cursor": cursor},
            repeatable=True,
        ))

    def replay(self, endpoint_id: str, delivery_id: str) -> types.WebhookDelivery:
        """Replay a delivery"""
        return self._transport.call(
            "POST",
            f"/v1/webhook-endpoints/{segment('endpoint_id', endpoint_id)}/deliveries/{segment('delivery_id', delivery_id)}/replay",
        )

    def replay_all(self, endpoint_id: str, body: types.WebhookReplay) -> types.WebhooksReplayed:
        """Replay the events of a time"""
        return self._transport.call(
            "POST",
            f"/v1/webhook-endpoints/{segment('endpoint_id', endpoint_id)}/replay",
            body=body,
        )


class ProviderAccounts:
    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def list(self) -> types.ProviderAccountsListAnswer:
        """List your accounts at providers"""
        return self._transport.call("GET", "/v1/provider-accounts", repeatable=True)

    def get(self, provider: str) -> types.ProviderAccount:
        """Get your account at a provider"""
        return self._transport.call("GET", f"/v1/provider-accounts/{segment('provider', provider)}", repeatable=True)

    def set(self, provider: str, body: types.ProviderAccountRequest) -> types.ProviderAccount:
        """Set your account at a provider"""
        return self._transport.call("PUT", f"/v1/provider-accounts/{segment('provider', provider)}", body=body)

    def remove(self, provider: str) -> types.RemovedProviderAccount:
        """Remove your account at a provider"""
        return self._transport.call("DELETE", f"/v1/provider-accounts/{segment('provider', provider)}")


class Rungate:
    """Every operation by group and name."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport
        self.runs = Runs(transport)
        self.batches = Batches(transport)
        self.quotes = Quotes(transport)
        self.receipts = Receipts(transport)
        self.simulations = Simulations(transport)
        self.disputes = Disputes(transport)
        self.history = History(transport)
        self.discovery = Discovery(transport)
        self.catalog = Catalog(transport)
        self.wallet = Wallet(transport)
        self.usage = Usage(transport)
        self.topups = Topups(transport)
        self.referrals = Referrals(transport)
        self.keys = Keys(transport)
        self.allowances = Allowances(transport)
        self.label_budgets = LabelBudgets(transport)
        self.approvals = Approvals(transport)
        self.opt_outs = OptOuts(transport)
        self.configuration = Configuration(transport)
        self.senders = Senders(transport)
        self.members = Members(transport)
        self.invitations = Invitations(transport)
        self.audit_log = AuditLog(transport)
        self.auth = Auth(transport)
        self.service = Service(transport)
        self.recovery = Recovery(transport)
        self.passkeys = Passkeys(transport)
        self.webhooks = Webhooks(transport)
        self.provider_accounts = ProviderAccounts(transport)

    def events(
        self,
        *,
        run_id: str | None = None,
        types: Sequence[Literal["run.created", "run.started", "run.attempt", "run.approval_required", "run.approved", "run.finished", "wallet.changed", "wallet.low", "budget.reached", "topup.failed"]] | None = None,
        after: str | None = None,
    ) -> Iterator[Event]:
        """Follows the events of the organization, or those of a run from its beginning until it ends.

        After a lost connection it continues with the next event. `after` is the id of the last event that the program has.
        """
        return follow(self._transport, run_id, types, after)


def connect(
    url: str,
    key: str | None = None,
    *,
    timeout_seconds: float = 150.0,
    retry_seconds: float = 20.0,
    ssl_context: ssl.SSLContext | None = None,
) -> Rungate:
    """The client of a service. It sends nothing until a method is called.

    url: the service's address, such as http://127.0.0.1:8787. A path after it is kept, except a /v1 at its end.
    key: API key or session token. Public operations need none.
    timeout_seconds: how long a request waits for data. The default is longer than the longest wait for a run.
    retry_seconds: how long a lost request is repeated. 0 turns it off.
    """
    if not isinstance(url, str) or not url.startswith(("http://", "https://")):
        raise ValueError(f"connect needs url: the address of the service, such as 'http://127.0.0.1:8787'. It is {url!r}.")
    return Rungate(Transport(Settings(url, key, timeout_seconds, retry_seconds, ssl_context)))
