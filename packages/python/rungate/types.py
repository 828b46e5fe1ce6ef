"""Generated from the OpenAPI document of the service."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, TypedDict, Union

if TYPE_CHECKING:
    from typing_extensions import NotRequired

class Accept(TypedDict):
    """lookups only: what counts as a match, by accept of inspect; agree: 2 charges two providers that give the same"""

    fields: NotRequired[list[str] | None]
    phone_type: NotRequired[Literal["mobile", "direct", "landline", "voip", "toll_free"] | None]
    max_age_days: NotRequired[int | None]
    agree: NotRequired[Literal[2] | None]


class Acceptable(TypedDict):
    fields: list[str]
    phone_types: list[Literal["mobile", "direct", "landline", "voip", "toll_free"]]
    max_age_days: str | None
    agree: bool
    description: str


class ActualFigures(TypedDict):
    cost: str
    hit_rate: float | None
    latency_ms_p95: float | None


class Allowance(TypedDict):
    id: str
    """The id of its key."""
    name: str
    parent_id: str | None
    """The key that gave it. Null if a person did."""
    depth: int
    """1, or one more than that of the allowance which gave it. 3 at most."""
    status: Literal["active", "ended"]
    amount: str
    spent: str
    """What its runs were charged, and what allowances under it have spent."""
    held: str
    """What the wallet holds for it now, with its open runs and the allowances under it."""
    available: str
    """The part of held that is free for its next run."""
    expires_at: str | None
    allow: KeyScope | None
    display: str
    created_at: str


class AllowanceRequest(TypedDict):
    name: str
    amount: Usd
    expires_at: str
    allow: NotRequired[KeyScopeRequest | None]


class ApiKey(TypedDict):
    id: str
    name: str
    environment: Literal["test", "live"]
    display: str
    last_used_at: str | None
    revoked: bool
    expires_at: str | None
    replaced_by: str | None
    """Id of the key that rotation made. This key works until expires_at."""
    connected: bool
    """A connected agent holds it, and renews expires_at."""
    allowance: bool
    """It is the key of an allowance, and can be revoked but not changed. GET /v1/allowances/{id} has its money."""
    budget: KeyBudget | None
    allow: KeyScope | None
    created_at: str
    created_by: str | None


class ApiKeyChange(TypedDict):
    name: NotRequired[str]
    expires_at: NotRequired[str | None]
    budget: NotRequired[KeyBudgetRequest | None]
    allow: NotRequired[KeyScopeRequest | None]


class ApiKeyRequest(TypedDict):
    name: str
    environment: Literal["test", "live"]
    expires_at: NotRequired[str | None]
    budget: NotRequired[KeyBudgetRequest | None]
    allow: NotRequired[KeyScopeRequest | None]


class ApiKeyRotation(TypedDict):
    grace_seconds: NotRequired[int]
    """how long the old key works; the default is 0: it stops at once"""


class AppliedConfiguration(TypedDict):
    digest: str
    """of the state that was compared"""
    changes: list[ConfigurationChange]
    created: list[NewSecret]


class Approval(TypedDict):
    run_id: str
    state: Literal["pending", "approved", "denied", "expired", "cancelled"]
    rule: str
    """Name of the rule that the run matched."""
    role: Literal["member", "admin", "owner"]
    """the least role of a member who may decide"""
    capability: str | None
    endpoint: str | None
    key_id: str | None
    """null for a session"""
    subject: str | None
    """the first texts of the input"""
    providers: list[str]
    """whom the run may call, in this order, and nobody else"""
    hold: str
    """the most that the run can be charged"""
    digest: str | None
    """of the input, the offers and the hold: what a yes is about"""
    requested_at: str
    expires_at: str
    decided_at: str | None
    decided_by: str | None
    """the member"""
    via: Literal["session", "link"] | None
    """whether the member decided in a session, or with the link of an e-mail"""


class ApprovalDecision(TypedDict):
    digest: NotRequired[str | None]
    """the digest of the approval that the member saw: another one is refused"""


class ApprovalDecisions(TypedDict):
    decision: Literal["approve", "deny"]
    run_ids: list[str]


class ApprovalRule(TypedDict):
    id: str
    name: str
    min_hold: NotRequired[Usd | None]
    """runs that hold this amount or more"""
    capabilities: NotRequired[list[str] | None]
    """runs of these capabilities"""
    providers: NotRequired[list[str] | None]
    """runs that may call one of these providers"""
    raw: NotRequired[bool | None]
    """true: only raw calls of endpoints; false: only capabilities"""
    keys: NotRequired[list[str] | None]
    """runs of these API keys"""
    labels: NotRequired[dict[str, str] | None]
    """runs with these labels in their metadata"""
    role: Literal["member", "admin", "owner"]
    """the least role of a member who may decide"""
    self_approval: bool
    """whether a member may approve a run that the member started"""
    expires_after: int
    """seconds until a run that nobody approves ends: a minute to seven days"""
    active: bool
    created_at: str


class ApprovalRuleChange(TypedDict):
    name: NotRequired[str | None]
    min_hold: NotRequired[Usd | None]
    """runs that hold this amount or more"""
    capabilities: NotRequired[list[str] | None]
    """runs of these capabilities"""
    providers: NotRequired[list[str] | None]
    """runs that may call one of these providers"""
    raw: NotRequired[bool | None]
    """true: only raw calls of endpoints; false: only capabilities"""
    keys: NotRequired[list[str] | None]
    """runs of these API keys"""
    labels: NotRequired[dict[str, str] | None]
    """runs with these labels in their metadata"""
    role: NotRequired[Literal["member", "admin", "owner"] | None]
    """the least role of a member who may decide"""
    self_approval: NotRequired[bool | None]
    """whether a member may approve a run that the member started"""
    expires_after: NotRequired[int | None]
    """seconds until a run that nobody approves ends: a minute to seven days"""
    active: NotRequired[bool | None]


class ApprovalRuleRequest(TypedDict):
    name: str
    min_hold: NotRequired[Usd | None]
    """runs that hold this amount or more"""
    capabilities: NotRequired[list[str] | None]
    """runs of these capabilities"""
    providers: NotRequired[list[str] | None]
    """runs that may call one of these providers"""
    raw: NotRequired[bool | None]
    """true: only raw calls of endpoints; false: only capabilities"""
    keys: NotRequired[list[str] | None]
    """runs of these API keys"""
    labels: NotRequired[dict[str, str] | None]
    """runs with these labels in their metadata"""
    role: NotRequired[Literal["member", "admin", "owner"] | None]
    """the least role of a member who may decide"""
    self_approval: NotRequired[bool | None]
    """whether a member may approve a run that the member started"""
    expires_after: NotRequired[int | None]
    """seconds until a run that nobody approves ends: a minute to seven days"""
    active: NotRequired[bool | None]


class ApprovalRuleRequest_1(TypedDict):
    name: str
    min_hold: NotRequired[Usd | None]
    """runs that hold this amount or more"""
    capabilities: NotRequired[list[str] | None]
    """runs of these capabilities"""
    providers: NotRequired[list[str] | None]
    """runs that may call one of these providers"""
    raw: NotRequired[bool | None]
    """true: only raw calls of endpoints; false: only capabilities"""
    keys: NotRequired[list[str] | None]
    """runs of these API keys"""
    labels: NotRequired[dict[str, str] | None]
    """runs with these labels in their metadata"""
    role: NotRequired[Literal["member", "admin", "owner"] | None]
    """the least role of a member who may decide"""
    self_approval: NotRequired[bool | None]
    """whether a member may approve a run that the member started"""
    expires_after: NotRequired[int | None]
    """seconds until a run that nobody approves ends: a minute to seven days"""
    active: NotRequired[bool | None]


class ApprovalsDecidedItemsItem(TypedDict):
    run_id: str
    decided: bool
    message: str | None
    """why the decision does not count"""


class ApprovalsDecided(TypedDict):
    items: list[ApprovalsDecidedItemsItem]


class Attempt(TypedDict):
    provider: str
    outcome: str
    duration_ms: int
    detail: str | None
    account: NotRequired[Literal["own"]]
    """the call was made through the organization's own account"""


class AuditEntryActor(TypedDict):
    kind: Literal["person", "key", "operator", "system"]
    id: str | None
    """Id of the user or API key."""
    name: str | None
    """A person's e-mail address, a key's name, or the operator's user name."""


class AuditEntry(TypedDict):
    id: str
    actor: AuditEntryActor
    action: str
    """Such as `key.revoked` or `member.changed`."""
    object: str
    """Id of what was changed."""
    before: dict[str, Any] | None
    """The changed fields as they were. No secrets."""
    after: dict[str, Any] | None
    """The changed fields as they are now. No secrets."""
    address: str | None
    """Client address of the request. Deleted after 180 days."""
    created_at: str


class AutoTopup(TypedDict):
    enabled: bool
    threshold: str
    amount: str
    last_error: str | None


class AutoTopupRequest(TypedDict):
    enabled: bool
    threshold: Usd
    amount: Usd


class BatchRows(TypedDict):
    total: int
    open: int
    """not ended yet"""
    succeeded: int
    no_match: int
    failed: int
    blocked: int
    """stopped by money, a limit, the API key or a provider's outage; nothing was charged, and they can be retried"""
    invalid: int
    """refused because of their input; they made no run"""
    cancelled: int


class Batch(TypedDict):
    id: str
    status: Literal["running", "cancelling", "cancelled", "finished"]
    done: bool
    rows: BatchRows
    max_total: str | None
    charged: str
    """of the rows that have ended"""
    currency: Literal["USD"]
    approval: NotRequired[BatchApproval]
    metadata: dict[str, str]
    """the labels of the batch; each run without labels of its own has them"""
    results_url: str
    created_at: str
    finished_at: str | None


class BatchApproval(TypedDict):
    code: Literal["approval_required"]
    waiting: int
    """open rows whose runs wait"""
    url: str
    """the page on which a member decides"""
    tell: str
    """what an agent tells its person"""


class BatchRequest(TypedDict):
    runs: list[BatchRun]
    max_total: NotRequired[Usd | None]
    metadata: NotRequired[dict[str, str] | None]
    """up to 16 labels of your own, such as {"campaign": "spring"}; values have up to 500 characters"""


class BatchRetry(TypedDict):
    max_total: NotRequired[Usd | None]


class BatchRunRouting(TypedDict):
    provider: NotRequired[str | None]
    """auto, or a provider to pin; a pinned provider never falls back"""
    strategy: NotRequired[Literal["best_value", "cheapest", "fastest", "highest_success_rate"] | None]
    max_cost: NotRequired[Usd | None]
    max_total: NotRequired[Usd | None]
    allow_fallback: NotRequired[bool | None]


class BatchRunResponse(TypedDict):
    include_raw: NotRequired[bool | None]


class BatchRun(TypedDict):
    """the body of POST /v1/run, without wait_seconds and async"""

    capability: NotRequired[str | None]
    """slug of a capability; either this, or provider and endpoint"""
    provider: NotRequired[str | None]
    """slug of a provider whose raw endpoint is called"""
    endpoint: NotRequired[str | None]
    """the provider's own path"""
    method: NotRequired[Literal["GET", "POST", "PUT", "PATCH", "DELETE"] | None]
    input: Any
    """matches the input_schema of inspect; for a raw endpoint the provider's own body"""
    path: NotRequired[dict[str, Any] | None]
    """raw only: fills {placeholders} of the endpoint"""
    query: NotRequired[dict[str, Any] | None]
    """raw only: query parameters"""
    routing: NotRequired[BatchRunRouting | None]
    metadata: NotRequired[dict[str, str] | None]
    """up to 16 labels of your own, such as {"campaign": "spring"}; values have up to 500 characters"""
    accept: NotRequired[Accept | None]
    reuse: NotRequired[Reuse | None]
    unless_contacted_within_seconds: NotRequired[int | None]
    """email.send, network.invite and network.message only: block the run (contact_guard) if one of its recipients was contacted within this time"""
    response: NotRequired[BatchRunResponse | None]


class CapabilityBilling(TypedDict):
    model: Literal["per_call", "on_match", "metered"]
    bills_no_match: bool
    description: str


class CapabilityWarranty(TypedDict):
    days: int
    """a bounce counts until so many days after the run's end"""
    refund: Literal["charge"]
    """what is paid back, once: the run's whole charge"""
    description: str


class CapabilityStartingPrice(TypedDict):
    amount: str
    currency: Literal["USD"]


class Capability(TypedDict):
    capability: str
    title: str
    category: str
    description: str
    status: Literal["live", "coming_soon"]
    sandbox: bool
    input_schema: dict[str, Any]
    output_fields: list[str]
    example: Any
    billing: CapabilityBilling
    accept: NotRequired[Acceptable]
    warranty: NotRequired[CapabilityWarranty]
    checks: NotRequired[RunChecks]
    providers: list[str]
    live_providers: list[str]
    platforms: list[str]
    offers: list[Offer]
    starting_price: CapabilityStartingPrice | None
    hints: list[str]
    commands: NotRequired[list[CommandHint]]


class CatalogProviderEndpoints(TypedDict):
    count: int
    status: Literal["live", "ready", "excluded"]
    reason: str | None


class CatalogProvider(TypedDict):
    provider: str
    title: str
    homepage: str | None
    capabilities: list[str]
    configured: bool
    adds: list[str]
    checked_at: str | None
    health: Health
    endpoints: CatalogProviderEndpoints


class ChainEntry(TypedDict):
    seq: int
    id: str
    type: Literal["reserve", "settle", "release", "topup", "bonus", "refund"]
    amount: str
    balance_after: str
    reserved_after: str
    run_id: str | None
    reference: str
    note: str | None
    created_at: str
    hash: str
    previous: str | None


class Checkout(TypedDict):
    status: Literal["checkout"]
    checkout_url: str
    session_id: str


class CheckoutRequest(TypedDict):
    amount: Usd


class CommandHint(TypedDict):
    http: str
    """a request, as the message or a hint names it"""
    cli: str
    """the command line that does the same"""


class Configuration(TypedDict):
    keys: NotRequired[list[KeyEntry] | None]
    spend_guard: NotRequired[SpendGuardRequest_1 | None]
    webhooks: NotRequired[list[WebhookEntry] | None]
    label_budgets: NotRequired[list[LabelBudgetRequest_1] | None]
    approval_rules: NotRequired[list[ApprovalRuleRequest_1] | None]


class ConfigurationChange(TypedDict):
    action: Literal["create", "change", "remove"]
    section: Literal["keys", "spend_guard", "webhooks", "label_budgets", "approval_rules"]
    name: str
    """the name of a key or rule, the URL of a webhook endpoint, label=value of a label budget"""
    fields: list[ConfigurationField]
    """the values as people read them; null: no such rule"""


class ConfigurationExport(TypedDict):
    digest: str
    configuration: Configuration


class ConfigurationField(TypedDict):
    field: str
    before: str | None
    after: str | None


class ConfigurationPreview(TypedDict):
    digest: str
    """of the state that was compared"""
    changes: list[ConfigurationChange]
    replay: Replay | None


class ConfigurationPreviewRequest(TypedDict):
    configuration: Configuration_1
    prune: NotRequired[bool | None]
    """whether what is in no entry of a section, such as a key, is revoked or removed; the default is false"""


class ConfigurationRequest(TypedDict):
    configuration: Configuration_1
    prune: NotRequired[bool | None]
    """whether what is in no entry of a section, such as a key, is revoked or removed; the default is false"""
    digest: str


class Configuration_1(TypedDict):
    keys: NotRequired[list[KeyEntry_1] | None]
    spend_guard: NotRequired[SpendGuardRequest | None]
    webhooks: NotRequired[list[WebhookEntry_1] | None]
    label_budgets: NotRequired[list[LabelBudgetRequest] | None]
    approval_rules: NotRequired[list[ApprovalRuleRequest] | None]


class Control(TypedDict):
    control: Literal["daily_spend_guard", "per_run_limit", "key_budget", "batch_max_total", "label_budget", "approval_rule", "contact_guard", "opt_out"]
    manage: str
    """the path at which the control is read and changed"""


class Cost(TypedDict):
    model: Literal["free", "per_call", "per_result", "per_event", "unpublished"]
    estimate: str | None
    currency: Literal["USD"]
    note: str | None


class DiscoverItem1StartingPrice(TypedDict):
    amount: str
    currency: Literal["USD"]


class DiscoverItem1(TypedDict):
    kind: Literal["capability"]
    score: float
    health: Health
    hint: str
    capability: str
    title: str
    description: str
    status: Literal["live", "coming_soon"]
    providers: list[str]
    live_providers: list[str]
    platforms: list[str]
    starting_price: DiscoverItem1StartingPrice | None


class DiscoverItem2(TypedDict):
    kind: Literal["endpoint"]
    score: float
    health: Health
    hint: str
    provider: str
    endpoint: str
    method: Literal["GET", "POST", "PUT", "PATCH", "DELETE"]
    title: str
    status: Literal["live", "ready"]
    cost: Cost
    wrapped_by: list[str]


DiscoverItem = Union["DiscoverItem1", "DiscoverItem2"]


class DiscoverRequest(TypedDict):
    query: str
    """what you need, in plain words; short noun phrases work best"""
    limit: NotRequired[int | None]
    kind: NotRequired[Literal["capability", "endpoint"] | None]
    provider: NotRequired[str | None]


class Dispute(TypedDict):
    run_id: str
    reason: Literal["bounced"]
    evidence: str | None
    state: Literal["pending", "not_bounced", "refunded", "refused"]
    note: str
    """how it stands, or what the provider or the operator said"""
    refund: str | None
    """USD that the wallet gets back; null unless state is refunded"""
    reference: str | None
    """the reference of the ledger's refund entry"""
    ask_after: str | None
    """no provider is asked before this time; null if none was asked, or the dispute is decided"""
    created_at: str
    decided_at: str | None


class DisputeRequest(TypedDict):
    reason: str
    evidence: str
    """the id of your run of email.send, or of a raw endpoint that sends e-mail, to the address; or a text, and then the operator decides"""


class EndedSession(TypedDict):
    id: str
    """Id of the session, `ses_…`. It is not the token."""
    ended: Literal[True]


class EndpointOwnAccount(TypedDict):
    fee: str
    """what a run through your account costs instead of the price, in USD"""
    fallback: bool
    """this service's account is called, at the price, if the provider refuses yours"""


class EndpointInput(TypedDict):
    pathParams: dict[str, Any]
    queryParams: dict[str, Any]
    body: dict[str, Any] | None
    bodyType: Literal["task", "actor_input", "json"]


class EndpointFilledItem(TypedDict):
    field: str
    value: Any
    why: str


class EndpointRun(TypedDict):
    cli: str


class Endpoint(TypedDict):
    provider: str
    own_account: NotRequired[EndpointOwnAccount]
    endpoint: str
    method: Literal["GET", "POST", "PUT", "PATCH", "DELETE"]
    title: str
    description: str
    status: Literal["live", "ready"]
    sandbox: bool
    input: EndpointInput
    example: dict[str, Any]
    cost: EndpointCost
    health: Health
    filled: NotRequired[list[EndpointFilledItem]]
    wrapped_by: list[str]
    checks: NotRequired[RunChecks]
    run: EndpointRun
    hints: list[str]
    commands: NotRequired[list[CommandHint]]


EndpointCostDriversItem = TypedDict(
    "EndpointCostDriversItem",
    {
        "field": "str",
        "counts": "Literal['number', 'items', 'addresses', 'characters', 'presence']",
        "price": "NotRequired[str]",
        "multiplies": "NotRequired[Literal[True]]",
        "per": "NotRequired[int]",
        "included": "NotRequired[int]",
        "default": "NotRequired[int]",
        "max": "NotRequired[int]",
        "values": "NotRequired[dict[str, str]]",
        "times": "NotRequired[dict[str, str]]",
        "contains": "NotRequired[list[str]]",
        "if": "NotRequired[str]",
        "note": "NotRequired[str]",
        "description": "str",
    },
)


class EndpointCost(TypedDict):
    model: Literal["free", "per_call", "per_result", "per_event", "unpublished"]
    estimate: str | None
    currency: Literal["USD"]
    note: str | None
    base: NotRequired[str | None]
    drivers: NotRequired[list[EndpointCostDriversItem]]


class FollowedKey(TypedDict):
    id: str
    name: str
    connected: bool
    change: Literal["narrowed", "revoked"]


class Health(TypedDict):
    status: Literal["healthy", "stable", "degraded", "outage", "unknown"]
    success_rate: float | None
    latency_ms_p50: int | None
    latency_ms_p95: int | None
    sample_size: int
    source: Literal["measured", "provider_reported"]


class History(TypedDict):
    subject: HistorySubject
    items: list[HistoryItem]
    touches: list[HistoryTouch]
    last_touch: HistoryTouch | None
    contacted: bool
    last_contact: HistoryTouch | None
    last_unknown: NotRequired[HistoryTouch]
    reusable: list[HistoryReusable]
    count: int
    by_status: dict[str, int]
    by_capability: dict[str, int]
    charged: str
    currency: Literal["USD"]
    first_seen: str | None
    last_seen: str | None
    truncated: bool
    hints: list[str]


class HistoryBatch(TypedDict):
    items: list[HistoryRow]
    seen: int
    unseen: int
    contacted: int


class HistoryErasure(TypedDict):
    subject: HistorySubject
    erased: int
    in_flight: int


class HistoryItem(TypedDict):
    run_id: str
    capability: str | None
    endpoint: str | None
    provider: str | None
    created_at: str
    status: Literal["created", "reserved", "queued", "running", "succeeded", "no_match", "failed", "timed_out", "blocked", "cancelled"]
    kind: Literal["capability", "endpoint"]
    charged: str | None
    input: Any
    matched: HistoryMatch


HistoryMatch = TypedDict(
    "HistoryMatch",
    {
        "in": "Literal['input', 'result']",
        "path": "str",
        "exact": "bool",
    },
)


class HistoryRequest(TypedDict):
    subjects: list[str]
    kind: NotRequired[Literal["email", "domain", "network", "url", "handle", "phone", "text"] | None]


class HistoryReusable(TypedDict):
    run_id: str
    capability: str | None
    endpoint: str | None
    provider: str | None
    created_at: str
    charged: str


class HistoryRowError(TypedDict):
    code: str
    message: str


class HistoryRow(TypedDict):
    query: str
    kind: Literal["email", "domain", "network", "url", "handle", "phone", "text"] | None
    normalized: str | None
    seen: bool
    count: int
    last_seen: str | None
    contacted: bool
    last_touch: HistoryTouch | None
    last_contact: HistoryTouch | None
    last_unknown: NotRequired[HistoryTouch]
    reusable: HistoryReusable | None
    error: NotRequired[HistoryRowError]


class HistorySubject(TypedDict):
    query: str
    kind: Literal["email", "domain", "network", "url", "handle", "phone", "text"]
    normalized: str


class HistoryTouch(TypedDict):
    run_id: str
    capability: str
    channel: str
    status: Literal["created", "reserved", "queued", "running", "succeeded", "no_match", "failed", "timed_out", "blocked", "cancelled"]
    created_at: str


class InspectRequest(TypedDict):
    capability: NotRequired[str | None]
    provider: NotRequired[str | None]
    endpoint: NotRequired[str | None]
    """the provider's own path, verbatim"""
    method: NotRequired[Literal["GET", "POST", "PUT", "PATCH", "DELETE"] | None]
    """needed if the path has several methods"""


class Invitation(TypedDict):
    id: str
    email: str
    role: Literal["viewer", "member", "admin", "owner"]
    status: Literal["open", "expired"]
    invited_by: str
    """E-mail address of the person who invited."""
    created_at: str
    expires_at: str


class InvitationAcceptance(TypedDict):
    token: str
    password: str
    code: NotRequired[str | None]


class InvitationPreview(TypedDict):
    organization: str
    email: str
    role: Literal["viewer", "member", "admin", "owner"]


class InvitationPreviewRequest(TypedDict):
    token: str


class InvitationRequest(TypedDict):
    email: str
    role: Literal["viewer", "member", "admin", "owner"]


class KeyBudget(TypedDict):
    limit: str
    period: Literal["day", "week", "month", "total"]
    spent: str
    """charged in the current period"""
    resets_at: str | None
    """null for total"""


class KeyBudgetRequest(TypedDict):
    limit: Usd
    period: Literal["day", "week", "month", "total"]
    """in the organization's time zone: weeks start on Monday, months on the first; total never resets"""


class KeyBudgetRequest_1(TypedDict):
    limit: Usd
    period: Literal["day", "week", "month", "total"]
    """in the organization's time zone: weeks start on Monday, months on the first; total never resets"""


class KeyEntry(TypedDict):
    name: str
    expires_at: NotRequired[str | None]
    budget: NotRequired[KeyBudgetRequest_1 | None]
    allow: NotRequired[KeyScopeRequest_1 | None]


class KeyEntry_1(TypedDict):
    name: str
    expires_at: NotRequired[str | None]
    budget: NotRequired[KeyBudgetRequest | None]
    allow: NotRequired[KeyScopeRequest | None]


class KeyScope(TypedDict):
    capabilities: NotRequired[list[str]]
    providers: NotRequired[list[str]]
    raw: NotRequired[bool]
    read_only: NotRequired[bool]
    max_cost: NotRequired[str]
    """the most that one run may hold; the cap of runs that set none"""
    mint: NotRequired[bool]
    """whether the key may give allowances, which are keys with an amount of its money"""
    read: NotRequired[Literal["own", "organization"]]
    labels: NotRequired[dict[str, str]]


class KeyScopeRequest(TypedDict):
    capabilities: NotRequired[list[str] | None]
    """the only capabilities that may run; raw calls then need raw: true"""
    providers: NotRequired[list[str] | None]
    """the only providers that runs may call"""
    raw: NotRequired[bool | None]
    """whether raw endpoints may be called; the default is true without capabilities, and false with them"""
    read_only: NotRequired[bool | None]
    """reads and lookups only: no run that acts outside, such as sending a message; raw calls with GET only"""
    max_cost: NotRequired[Usd | None]
    mint: NotRequired[bool | None]
    """whether the key may give allowances, which are keys with an amount of its money"""
    read: NotRequired[Literal["own", "organization"] | None]
    """whose runs it reads; allowances and agents: own"""
    labels: NotRequired[dict[str, str] | None]
    """labels that all of its runs have, such as {"customer": "acme"}; a request may not give them another value"""


class KeyScopeRequest_1(TypedDict):
    capabilities: NotRequired[list[str] | None]
    """the only capabilities that may run; raw calls then need raw: true"""
    providers: NotRequired[list[str] | None]
    """the only providers that runs may call"""
    raw: NotRequired[bool | None]
    """whether raw endpoints may be called; the default is true without capabilities, and false with them"""
    read_only: NotRequired[bool | None]
    """reads and lookups only: no run that acts outside, such as sending a message; raw calls with GET only"""
    max_cost: NotRequired[Usd | None]
    mint: NotRequired[bool | None]
    """whether the key may give allowances, which are keys with an amount of its money"""
    read: NotRequired[Literal["own", "organization"] | None]
    """whose runs it reads; allowances and agents: own"""
    labels: NotRequired[dict[str, str] | None]
    """labels that all of its runs have, such as {"customer": "acme"}; a request may not give them another value"""


class LabelBudget(TypedDict):
    id: str
    label: str
    """Name of the label in the metadata of runs."""
    value: str | None
    """null: each value has this budget by itself"""
    limit: str
    period: Literal["day", "week", "month", "total"]
    spent: str | None
    """charged in the current period; null for each value"""
    reserved: str | None
    """what open runs hold; null for each value"""
    resets_at: str | None
    """null for total"""
    time_zone: str | None
    """the zone whose days it counts; null: the organization's"""
    created_at: str


class LabelBudgetRequest(TypedDict):
    label: str
    value: NotRequired[str | None]
    """the value whose runs the budget counts; null: each value has the budget by itself"""
    limit: Usd
    period: Literal["day", "week", "month", "total"]
    """in the organization's time zone: weeks start on Monday, months on the first; total never resets"""
    time_zone: NotRequired[str]
    """the zone whose days it counts, such as Europe/Berlin"""


class LabelBudgetRequest_1(TypedDict):
    label: str
    value: NotRequired[str | None]
    """the value whose runs the budget counts; null: each value has the budget by itself"""
    limit: Usd
    period: Literal["day", "week", "month", "total"]
    """in the organization's time zone: weeks start on Monday, months on the first; total never resets"""
    time_zone: NotRequired[str]
    """the zone whose days it counts, such as Europe/Berlin"""


class LabelStatementRun(TypedDict):
    run_id: str
    status: Literal["created", "reserved", "queued", "running", "succeeded", "no_match", "failed", "timed_out", "blocked", "cancelled"]
    capability: str | None
    endpoint: str | None
    finished_at: str
    held: str
    charged: str
    released: str
    refunded: str
    ledger: list[ChainEntry]
    receipt: str | None
    """a JWS in compact form; null for a run that ended before the period, and was refunded in it"""


class LabelValue(TypedDict):
    id: str
    """the id that budget.reached names"""
    label: str
    """Name of the label in the metadata of runs."""
    value: str
    """The value; erased after the erasure of one of its runs, until its next run."""
    limit: str
    period: Literal["day", "week", "month", "total"]
    spent: str
    """charged in the current period"""
    reserved: str
    """what open runs hold"""
    resets_at: str | None
    """null for total"""


class LedgerHead(TypedDict):
    day: str
    """the UTC day whose newest entry this is"""
    seq: int
    """the number of that entry"""
    hash: str
    head: str
    """a JWS in compact form over the same facts"""


class ListedCapabilityStartingPrice(TypedDict):
    amount: str
    currency: Literal["USD"]


class ListedCapability(TypedDict):
    capability: str
    title: str
    description: str
    status: Literal["live", "coming_soon"]
    providers: list[str]
    live_providers: list[str]
    platforms: list[str]
    starting_price: ListedCapabilityStartingPrice | None
    category: str
    hint: str


class ListedEndpoint(TypedDict):
    provider: str
    endpoint: str
    method: Literal["GET", "POST", "PUT", "PATCH", "DELETE"]
    title: str
    status: Literal["live", "ready"]
    cost: Cost
    wrapped_by: list[str]


class ListedRunBilling(TypedDict):
    currency: Literal["USD"]
    quoted: str
    charged: str | None
    platform_funded: bool


class ListedRunTiming(TypedDict):
    duration_ms: int


class ListedRun(TypedDict):
    run_id: str
    status: Literal["created", "reserved", "queued", "running", "succeeded", "no_match", "failed", "timed_out", "blocked", "cancelled"]
    kind: Literal["capability", "endpoint"]
    capability: str | None
    endpoint: str | None
    provider: str | None
    routing_reason: str
    billing: ListedRunBilling
    timing: ListedRunTiming
    attempts: list[Attempt]
    error: NotRequired[RunError]
    hints: list[str]
    controls: NotRequired[list[Control]]
    done: bool
    poll_url: str
    stoppable: bool
    request_id: str
    reused_from: NotRequired[str]
    """the run whose result this is; nothing was bought"""
    approval: NotRequired[RunApproval]
    metadata: NotRequired[dict[str, str]]
    created_at: str
    key_id: NotRequired[str | None]
    """the API key that started it; null for a session"""
    subject: NotRequired[str | None]
    """the first texts of its input, to tell runs apart; null after erasure and for a large input"""


class Member(TypedDict):
    id: str
    """Id of the user, `usr_…`."""
    email: str
    role: Literal["viewer", "member", "admin", "owner"]
    verified: bool
    """Whether the address is verified, or need not be."""
    created_at: str
    """When the user became a member."""
    keys: NotRequired[list[FollowedKey]]
    """Keys that may do less now."""


class MemberChange(TypedDict):
    role: Literal["viewer", "member", "admin", "owner"]


class NewAllowance(TypedDict):
    id: str
    api_key: str
    note: str


class NewApiKey(TypedDict):
    id: str
    api_key: str
    note: str


class NewInvitation(TypedDict):
    id: str
    email: str
    role: Literal["viewer", "member", "admin", "owner"]
    status: Literal["open", "expired"]
    invited_by: str
    """E-mail address of the person who invited."""
    created_at: str
    expires_at: str
    link: NotRequired[str]
    """Send this link to the invited person, and to nobody else. Left out if the service sends e-mails, because the link is mailed then."""


class NewSecondFactor(TypedDict):
    secret: str
    uri: str


class NewSecret(TypedDict):
    section: Literal["keys", "spend_guard", "webhooks", "label_budgets", "approval_rules"]
    name: str
    """the name of a key or rule, the URL of a webhook endpoint, label=value of a label budget"""
    id: str
    secret: str
    """the API key, or the secret that signs webhooks; it is shown only once"""


class NewSessionOrganization(TypedDict):
    id: str
    name: str


class NewSessionUser(TypedDict):
    id: str
    email: str


class NewSession(TypedDict):
    session_token: str
    expires_at: str
    organization: NewSessionOrganization
    user: NewSessionUser
    role: Literal["viewer", "member", "admin", "owner"]
    """The user's role in the organization."""
    verification: NotRequired[Literal["pending"]]
    """Present until the e-mail address is verified with the link that was mailed to it. Until then the session can't create keys, run or pay."""


class NewWebhookEndpoint(TypedDict):
    id: str
    url: str
    events: list[str]
    status: Literal["active", "paused"]
    """A paused endpoint gets nothing. When it is active again, it continues where it stopped."""
    paused_because: Literal["by_you", "gone", "failing"] | None
    """gone: it answered 410. failing: it accepted nothing for two days, and a delivery was given up."""
    failing_since: str | None
    """Time of the first failure since the last accepted webhook."""
    previous_secret_until: str | None
    """Until then webhooks are signed with the previous secret too."""
    created_at: str
    secret: str
    """Verifies the signatures. It is shown only once."""


class OfferOwnAccount(TypedDict):
    fee: str
    """what a run through your account costs instead of the price, in USD"""
    fallback: bool
    """this service's account is called, at the price, if the provider refuses yours"""


class OfferPrice(TypedDict):
    amount: str
    currency: Literal["USD"]
    note: str | None


class OfferMetrics(TypedDict):
    success_rate: float | None
    latency_ms_p50: int | None
    latency_ms_p95: int | None
    sample_size: int


class Offer(TypedDict):
    provider: str
    own_account: NotRequired[OfferOwnAccount]
    executable: bool
    wired: bool
    verified: bool
    platforms: list[str]
    price: OfferPrice
    pricing: NotRequired[dict[str, Any]]
    metrics: OfferMetrics
    health: Health


class OpenSessionOrganization(TypedDict):
    id: str
    name: str


class OpenSession(TypedDict):
    id: str
    """Id of the session, `ses_…`. It is not the token."""
    organization: OpenSessionOrganization
    current: bool
    """True for the session that asks."""
    created_at: str
    expires_at: str


class OptOut(TypedDict):
    id: str
    kind: Literal["email", "domain", "phone", "profile"]
    hint: str | None
    """the value with its middle left out; null if only the digest is known"""
    digest: str
    """the SHA-256 of the normalized value, in hexadecimal"""
    source: Literal["api", "console", "import", "one_click", "complaint"]
    reason: str | None
    run_id: str | None
    """of a one-click opt-out: the run that sent the message"""
    created_by: str | None
    """the person, API key or operator; null for the recipient"""
    created_at: str


class OptOutCheck(TypedDict):
    value: str
    """as it was sent"""
    kind: Literal["email", "domain", "phone", "profile"] | None
    """null for a text that is no value"""
    digest: str | None
    """the SHA-256 of the normalized value, in hexadecimal"""
    opted_out: bool
    opt_out_id: str | None
    """the entry, which may be that of the address's domain"""
    since: str | None


class OptOutCheckRequest(TypedDict):
    values: list[str]
    """addresses, domains, phone numbers with +, profiles, or digests such as email:<SHA-256>; at most 1000"""


class OptOutMatch(TypedDict):
    """the entry of the opt-out list that refused the run, with the SHA-256 of the normalized value"""

    opt_out_id: str
    list: Literal["organization", "service"]
    kind: Literal["email", "domain", "phone", "profile"]
    digest: str
    since: str


class OptOutRequest(TypedDict):
    values: list[str]
    """addresses, domains, phone numbers with +, profiles, or digests such as email:<SHA-256>; at most 1000"""
    reason: NotRequired[str | None]
    source: NotRequired[Literal["api", "console", "complaint"] | None]
    """where it comes from; default: api"""


class OptOutsAdded(TypedDict):
    added: int
    """entries that are new"""
    already: int
    """values that the list had"""
    refused: int
    """rows of an import that have no value"""
    refusals: list[str]
    """the first of them, each with its row"""


class OwnSessionOrganization(TypedDict):
    id: str
    name: str


class OwnSessionUser(TypedDict):
    id: str
    email: str


class OwnSessionOrganizationsItem(TypedDict):
    id: str
    name: str
    role: Literal["viewer", "member", "admin", "owner"]


class OwnSession(TypedDict):
    expires_at: str
    organization: OwnSessionOrganization
    user: OwnSessionUser
    role: Literal["viewer", "member", "admin", "owner"]
    """The user's role in the organization."""
    verification: NotRequired[Literal["pending"]]
    """Present until the e-mail address is verified with the link that was mailed to it. Until then the session can't create keys, run or pay."""
    organizations: list[OwnSessionOrganizationsItem]
    """All organizations of the user, oldest membership first. Sign-in takes their ids."""


class Passkey(TypedDict):
    id: str
    name: str
    created_at: str
    last_used_at: str | None


class PasskeyChange(TypedDict):
    name: str


class PasskeyRegistration(TypedDict):
    challenge: str
    rp_id: str
    user_handle: str
    credential_ids: list[str]


class PasskeyRequest(TypedDict):
    name: str
    credential_id: str
    client_data: str
    attestation: str


class PasskeyStart(TypedDict):
    current_password: str
    code: NotRequired[str | None]


class PasswordChangeRequest(TypedDict):
    current_password: str
    new_password: str


class PasswordChanged(TypedDict):
    password_changed: Literal[True]


class PasswordResetAccepted(TypedDict):
    status: Literal["accepted"]
    note: str


class PasswordResetConfirmation(TypedDict):
    token: str
    new_password: str


class PasswordResetRequest(TypedDict):
    email: str


class PasswordSet(TypedDict):
    password_changed: Literal[True]
    email: str


class PendingRunBilling(TypedDict):
    currency: Literal["USD"]
    quoted: str
    charged: str | None
    platform_funded: bool


class PendingRunTiming(TypedDict):
    duration_ms: int


class PendingRun(TypedDict):
    """still executing: done is false, poll poll_url"""

    run_id: str
    status: Literal["created", "reserved", "queued", "running", "succeeded", "no_match", "failed", "timed_out", "blocked", "cancelled"]
    kind: Literal["capability", "endpoint"]
    capability: str | None
    endpoint: str | None
    provider: str | None
    routing_reason: str
    billing: PendingRunBilling
    timing: PendingRunTiming
    attempts: list[Attempt]
    error: NotRequired[RunError]
    hints: list[str]
    controls: NotRequired[list[Control]]
    done: bool
    poll_url: str
    stoppable: bool
    request_id: str
    reused_from: NotRequired[str]
    """the run whose result this is; nothing was bought"""
    approval: NotRequired[RunApproval]
    metadata: NotRequired[dict[str, str]]
    created_at: str
    result: NotRequired[Any]


class ProviderAccount(TypedDict):
    provider: str
    last_four: str
    """The last four characters of the key."""
    base_url: str | None
    """The address that is called instead of the provider's."""
    fallback: bool
    """If the provider refuses the key, this service's account is called at its own price."""
    fee: str
    """What a run through this account holds, and what it is charged if it delivers, in USD."""
    created_at: str
    changed_at: str
    """When the key was set."""


class ProviderAccountRequest(TypedDict):
    api_key: str
    """the key of your account, in ASCII. For a provider with a login and a password: login:password. For a provider with two keys: first:second. It is encrypted, and no answer shows more than its last four characters"""
    base_url: NotRequired[str | None]
    """an https URL with a public address, if your account has one of its own"""
    fallback: NotRequired[bool | None]
    """call this service's account, at its own price, if the provider refuses your key (401, 402 or 403). Default: false"""


Quote = TypedDict(
    "Quote",
    {
        "currency": "Literal['USD']",
        "minimum": "str",
        "from": "str",
        "expected": "str",
        "maximum": "str",
        "hold": "str",
        "offers": "list[QuotedOffer]",
        "reused_from": "NotRequired[str]",
        "routing_reason": "str",
        "would": "Literal['run', 'block']",
        "approval_required": "NotRequired[Literal[True]]",
        "approval_rule": "NotRequired[str]",
        "budgets": "NotRequired[list[QuotedBudget]]",
        "controls": "list[Control]",
        "error": "NotRequired[RunError_1]",
    },
)


class QuotedBudget(TypedDict):
    label: str | None
    value: str | None
    limit: str
    period: Literal["day", "week", "month", "total"]
    left: str
    """what runs may still hold or charge in this period"""


class QuotedOffer(TypedDict):
    provider: str
    account: NotRequired[Literal["own"]]
    """the call is made through your own account at this provider"""
    price: str
    """the most that this provider would charge for this input, in USD"""
    expected_success: float | None
    chosen: bool
    """the run may call this provider; chosen ones come first, in order"""
    excluded_because: Literal["max_cost", "max_total", "cannot_serve", "no_account", "unavailable", "not_pinned", "attempt_limit"] | None


class ReceiptApproval(TypedDict):
    """of a run that a rule made wait: what members said"""

    rule: str
    state: Literal["pending", "approved", "denied", "expired", "cancelled"]
    digest: str
    requested_at: str
    expires_at: str
    decided_at: str | None
    decided_by: str | None
    via: str | None


class ReceiptBudget(TypedDict):
    budget_id: str
    label: str | None
    value: str | None


class RecoveryCodes(TypedDict):
    recovery_codes: list[str]


class Referral(TypedDict):
    referral_id: str
    organization: str
    signed_up_at: str
    ends_at: str
    """Runs that are settled before this time count."""
    bonus: Literal["pending", "granted", "revoked"]
    earned: str
    """Your share of the revenue from its runs so far."""


class ReferralProgramEarnings(TypedDict):
    currency: Literal["USD"]
    credited: str
    """Shares that are credited to your ledger or about to be, less what was taken back."""
    pending: str
    """Earned but not credited, because it is less than one cent."""
    referred_count: int


class ReferralProgramReferred(TypedDict):
    """Newest first, at most 200; referred_count counts all."""

    items: list[Referral]


class ReferralProgramReferredBy(TypedDict):
    bonus_state: Literal["pending", "granted", "revoked"]
    deposit_bonus: str
    deposit_min: str


class ReferralProgramCreditsItem(TypedDict):
    amount: str
    """Negative when revenue was taken back, as by a refund of the deposit that had paid for it."""
    created_at: str
    reference: str
    """The reference of the entry in your ledger."""


class ReferralProgram(TypedDict):
    code: str
    link: str
    terms: ReferralTerms
    earnings: ReferralProgramEarnings
    referred: ReferralProgramReferred
    """Newest first, at most 200; referred_count counts all."""
    referred_by: ReferralProgramReferredBy | None
    """Your own bonus if you signed up with a code, on the terms of that day."""
    credits: list[ReferralProgramCreditsItem]
    """Newest first, at most 50."""


class ReferralTerms(TypedDict):
    """The terms for an organization that signs up today. Later changes do not affect it."""

    currency: Literal["USD"]
    deposit_min: str
    """Minimum deposit for the bonus of a referred organization."""
    deposit_bonus: str
    """Bonus of the referred organization, granted once, with its first such deposit."""
    share_percent: str
    """The referrer's share of net revenue, in percent."""
    months: int
    """Months after sign-up in which the runs of a referred organization count."""
    description: str


class RemovedApprovalRule(TypedDict):
    id: str
    deleted: Literal[True]


class RemovedLabelBudget(TypedDict):
    id: str
    deleted: Literal[True]


class RemovedMember(TypedDict):
    id: str
    """Id of the user, `usr_…`."""
    removed: Literal[True]
    revoked_keys: list[str]
    keys: list[FollowedKey]


class RemovedOptOut(TypedDict):
    id: str
    deleted: Literal[True]


class RemovedPasskey(TypedDict):
    id: str
    deleted: Literal[True]


class RemovedProviderAccount(TypedDict):
    provider: str
    deleted: Literal[True]


class RemovedSecondFactors(TypedDict):
    id: str
    second_factor: bool
    """Whether there was one."""
    passkeys: int
    sessions_ended: int


class RemovedSender(TypedDict):
    id: str
    deleted: Literal[True]


class RemovedWebhookEndpoint(TypedDict):
    id: str
    deleted: Literal[True]


class ReplayRulesItem(TypedDict):
    rule: str
    blocked_runs: int
    waiting_runs: int


Replay = TypedDict(
    "Replay",
    {
        "from": "str",
        "runs": "int",
        "blocked_runs": "int",
        "waiting_runs": "int",
        "rules": "list[ReplayRulesItem]",
        "not_replayed": "list[str]",
        "cut": "bool",
    },
)


class Reuse(TypedDict):
    """lookups only. prefer: take the organization's own result of the same input at $0, or join the run that is buying it, and buy only if there is none; only: never buy; never: the default. max_age_seconds is 30 days by default"""

    mode: Literal["prefer", "only", "never"]
    max_age_seconds: NotRequired[int | None]


class RunBilling(TypedDict):
    currency: Literal["USD"]
    quoted: str
    charged: str | None
    platform_funded: bool


class RunTiming(TypedDict):
    duration_ms: int


class Run(TypedDict):
    run_id: str
    status: Literal["created", "reserved", "queued", "running", "succeeded", "no_match", "failed", "timed_out", "blocked", "cancelled"]
    kind: Literal["capability", "endpoint"]
    capability: str | None
    endpoint: str | None
    provider: str | None
    routing_reason: str
    billing: RunBilling
    timing: RunTiming
    attempts: list[Attempt]
    error: NotRequired[RunError]
    hints: list[str]
    controls: NotRequired[list[Control]]
    done: bool
    poll_url: str
    stoppable: bool
    request_id: str
    reused_from: NotRequired[str]
    """the run whose result this is; nothing was bought"""
    approval: NotRequired[RunApproval]
    metadata: NotRequired[dict[str, str]]
    created_at: str
    result: NotRequired[Any]


class RunApproval(TypedDict):
    code: Literal["approval_required"]
    rule: str
    """the name of the rule that it matches"""
    role: Literal["member", "admin", "owner"]
    """the least role of a member who may decide"""
    url: str
    """the page on which a member decides"""
    expires_at: str
    tell: str
    """what an agent tells its person"""


class RunChecksApprovalsItem(TypedDict):
    rule: str
    always: bool
    """false: it depends on the hold, the providers or the labels of the run"""


class RunChecks(TypedDict):
    """what the rules of your organization check of a run, beside the wallet"""

    approvals: list[RunChecksApprovalsItem]
    """the rules by which a run waits for the yes of a member"""
    label_budgets: list[str]
    """labels that have a budget, which limits a run"""
    opt_outs: bool
    """whether a recipient on an opt-out list blocks the run"""
    contact_guard_days: int | None
    """a recipient who was contacted in these days blocks the run; null: no such rule"""


class RunDecisionAccept(TypedDict):
    fields: list[str]
    phone_type: NotRequired[Literal["mobile", "direct", "landline", "voip", "toll_free"]]
    max_age_days: NotRequired[int]
    agree: NotRequired[Literal[2]]


class RunDecisionOffersItemHealth(TypedDict):
    success_rate: float | None
    latency_ms_p50: float | None
    sample_size: float


class RunDecisionOffersItem(TypedDict):
    provider: str
    account: NotRequired[Literal["own"]]
    price: str | None
    health: RunDecisionOffersItemHealth | None
    chosen: bool
    excluded_because: str | None


class RunDecision(TypedDict):
    routing: Literal["auto", "pinned", "no_fallback"]
    strategy: str | None
    max_cost: str | None
    max_total: str | None
    accept: NotRequired[RunDecisionAccept]
    attempts_max: int
    reason: str
    catalog_version: str | None
    offers: list[RunDecisionOffersItem]


class RunDetailsBilling(TypedDict):
    currency: Literal["USD"]
    quoted: str
    held: str | None
    """what the run held in the ledger; null if it held nothing"""
    charged: str | None
    """null until the run ends, and for a run that delivered nothing"""
    released: str | None
    """the part of the hold that was not charged; null until the run ends"""


class RunDetails(TypedDict):
    run_id: str
    status: Literal["created", "reserved", "queued", "running", "succeeded", "no_match", "failed", "timed_out", "blocked", "cancelled"]
    key_id: str | None
    """the API key that asked; null for a session"""
    request: dict[str, Any] | None
    """the body of POST /v1/run that asks for the same again; null after the run was erased"""
    decision: RunDecision | None
    """every offer that was considered, with its price and the reason it was left out; null after the run was erased"""
    opt_out: NotRequired[OptOutMatch]
    budgets: NotRequired[list[ReceiptBudget]]
    """the budgets that the run counts in: of its API key or batch, and of its labels"""
    billing: RunDetailsBilling
    approval: NotRequired[ReceiptApproval]
    ledger: list[ChainEntry]
    """the run's ledger entries, oldest first, and the warranty's refund"""
    created_at: str
    finished_at: str | None
    erased_at: str | None
    warranty: RunWarranty | None
    """null if the outcome warranty covers no such run, or the service has none"""


class RunError(TypedDict):
    code: str
    message: str


class RunError_1(TypedDict):
    """the error that the run would end with"""

    code: str
    message: str


class RunRequestRouting(TypedDict):
    provider: NotRequired[str | None]
    """auto, or a provider to pin; a pinned provider never falls back"""
    strategy: NotRequired[Literal["best_value", "cheapest", "fastest", "highest_success_rate"] | None]
    max_cost: NotRequired[Usd | None]
    max_total: NotRequired[Usd | None]
    allow_fallback: NotRequired[bool | None]


class RunRequestResponse(TypedDict):
    include_raw: NotRequired[bool | None]


RunRequest = TypedDict(
    "RunRequest",
    {
        "capability": "NotRequired[str | None]",
        "provider": "NotRequired[str | None]",
        "endpoint": "NotRequired[str | None]",
        "method": "NotRequired[Literal['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] | None]",
        "input": "Any",
        "path": "NotRequired[dict[str, Any] | None]",
        "query": "NotRequired[dict[str, Any] | None]",
        "routing": "NotRequired[RunRequestRouting | None]",
        "metadata": "NotRequired[dict[str, str] | None]",
        "accept": "NotRequired[Accept | None]",
        "reuse": "NotRequired[Reuse | None]",
        "unless_contacted_within_seconds": "NotRequired[int | None]",
        "response": "NotRequired[RunRequestResponse | None]",
        "wait_seconds": "NotRequired[int | None]",
        "async": "NotRequired[bool | None]",
    },
)


class RunWarranty(TypedDict):
    until: str | None
    """the run can be disputed until then; null if it can't be, or can't any more"""
    dispute: Dispute | None


class SecondFactor(TypedDict):
    enabled: bool
    recovery_codes: int
    """Those that were not used."""


class SecondFactorConfirmation(TypedDict):
    code: str


class SecondFactorRemoval(TypedDict):
    current_password: str
    code: str


class SecondFactorRemoved(TypedDict):
    removed: Literal[True]


class SecondFactorRequest(TypedDict):
    current_password: str


class SenderRecord(TypedDict):
    """The DNS record that proves the domain."""

    type: Literal["TXT"]
    name: str
    """Name of the DNS record."""
    value: str
    """Value of the DNS record. Every organization has its own."""


class Sender(TypedDict):
    id: str
    domain: str
    """Addresses at this domain and its subdomains may be used as from."""
    status: Literal["pending", "verified"]
    record: SenderRecord
    """The DNS record that proves the domain."""
    verified_at: str | None
    created_at: str
    sandbox: NotRequired[Literal[True]]
    """Present in the sandbox, where verification succeeds without a DNS look-up."""


class SenderRequest(TypedDict):
    domain: str
    """Such as example.com"""


class Service(TypedDict):
    environment: Literal["test", "live"]
    """test: providers and payments are simulated. It is also the environment of API keys."""
    sign_up: Literal["open", "invite", "closed"]
    openid: str | None
    """The host of the OpenID provider, where people may sign in: a browser opens /auth/openid. Null without one."""
    sends_mail: bool
    """False if links, such as those of invitations, are passed on by hand."""
    referral_terms: str
    """What a sign-up with a referral code gives, in words."""


class SignInRequest(TypedDict):
    email: str
    password: str
    code: NotRequired[str | None]
    """Of an account with a second factor: the code of its app, or a recovery code."""
    organization_id: NotRequired[str | None]


class SignUpRequest(TypedDict):
    email: str
    password: str
    organization: str
    referral_code: NotRequired[str | None]
    invitation: NotRequired[str | None]


class SimulatedAmount(TypedDict):
    lower: str
    expected: str
    upper: str


class SimulatedCheckout(TypedDict):
    status: Literal["simulated"]
    session_id: str
    transaction_id: str


class SimulatedFigures(TypedDict):
    cost: SimulatedAmount
    hit_rate: SimulatedRate
    latency_ms_p95: SimulatedRate_1


class SimulatedRate(TypedDict):
    lower: float | None
    expected: float | None
    upper: float | None


class SimulatedRate_1(TypedDict):
    """upper is null if nobody knows how long enough of the calls take"""

    lower: float | None
    expected: float | None
    upper: float | None


class SimulationLeftOut(TypedDict):
    """runs that are not simulated: of raw endpoints, erased ones, and those of a release that did not store what routing saw"""

    raw: int
    erased: int
    older: int


class Simulation(TypedDict):
    currency: Literal["USD"]
    runs: int
    """finished runs of capabilities in this time"""
    actual: ActualFigures
    simulated: SimulatedFigures
    unchanged_runs: int
    """runs that would have gone as they went"""
    unknown_runs: int
    """runs that would have called a provider which the past run did not call; bounds count every way in which it might have answered"""
    unknown_share: float | None
    refused_runs: int
    """runs that no provider would have served"""
    left_out: SimulationLeftOut
    """runs that are not simulated: of raw endpoints, erased ones, and those of a release that did not store what routing saw"""
    limits: NotRequired[Replay]


class SimulationRequestRouting(TypedDict):
    """what differs from the routing of each run"""

    strategy: NotRequired[Literal["best_value", "cheapest", "fastest", "highest_success_rate"] | None]
    allow_fallback: NotRequired[bool | None]


SimulationRequest = TypedDict(
    "SimulationRequest",
    {
        "from": "str",
        "to": "NotRequired[str | None]",
        "capability": "NotRequired[str | None]",
        "routing": "NotRequired[SimulationRequestRouting | None]",
        "without": "NotRequired[list[str] | None]",
        "max_cost": "NotRequired[Usd | None]",
    },
)


class SpendGuard(TypedDict):
    per_run_limit: str | None
    daily_limit: str | None
    low_balance: str | None
    contact_guard_days: int | None
    repeat_guard: int
    """failures of one input within ten minutes after which a key may not repeat it; 0: any number"""
    time_zone: str
    """whose days the daily limit, budgets and usage count"""
    spent_today: str
    resets_at: str
    """When the next day begins."""


class SpendGuardRequest(TypedDict):
    per_run_limit: NotRequired[Usd | None]
    daily_limit: NotRequired[Usd | None]
    low_balance: NotRequired[Usd | None]
    time_zone: NotRequired[str]
    contact_guard_days: NotRequired[int | None]


class SpendGuardRequest_1(TypedDict):
    per_run_limit: NotRequired[Usd | None]
    daily_limit: NotRequired[Usd | None]
    low_balance: NotRequired[Usd | None]
    time_zone: NotRequired[str]
    contact_guard_days: NotRequired[int | None]


class Transaction(TypedDict):
    id: str
    type: Literal["reserve", "settle", "release", "topup", "bonus", "refund"]
    amount: str
    balance_after: str
    reference: str
    note: str | None
    created_at: str


class UsageItem(TypedDict):
    day: NotRequired[str]
    capability: NotRequired[str | None]
    provider: NotRequired[str | None]
    key: NotRequired[str | None]
    endpoint: NotRequired[str | None]
    status: NotRequired[str]
    others: NotRequired[Literal[True]]
    runs: int
    succeeded: int
    no_match: int
    failed: int
    charged: str


Usd = str


class VerificationSent(TypedDict):
    verification: Literal["sent", "not_needed"]


class VerifiedEmail(TypedDict):
    verified: Literal[True]
    email: str


class VerifyEmailRequest(TypedDict):
    token: str


class Violation(TypedDict):
    equation: str
    subject: str
    detail: str


class Wallet(TypedDict):
    currency: Literal["USD"]
    balance: str
    reserved: str
    available: str


class WalletAuditSums(TypedDict):
    topup: str
    bonus: str
    refund: str
    settle: str
    reserve: str
    release: str


class WalletAuditHead(TypedDict):
    seq: float
    hash: str


class WalletAuditLastFullCheck(TypedDict):
    checked_at: str
    adds_up: bool


class WalletAudit(TypedDict):
    currency: Literal["USD"]
    adds_up: bool
    entries: float
    sums: WalletAuditSums
    balance: str
    balance_from_ledger: str
    reserved: str
    reserved_from_ledger: str
    head: WalletAuditHead | None
    chain_verified: bool
    violations: list[Violation]
    checked_at: str
    last_full_check: WalletAuditLastFullCheck | None


class WebhookDeliveryRequest(TypedDict):
    body: str
    """The body as it is sent, JSON text."""


class WebhookDeliveryAnswersItem(TypedDict):
    at: str
    duration_ms: float
    status: int | None
    answer: str
    """The beginning of the answer's body, or why there was no answer."""


class WebhookDelivery(TypedDict):
    id: str
    event_id: str
    """The header webhook-id. It is the same for each attempt and each replay."""
    type: str
    status: Literal["pending", "delivered", "failed"]
    attempts: int
    next_attempt_at: str | None
    delivered_at: str | None
    created_at: str
    request: WebhookDeliveryRequest
    answers: list[WebhookDeliveryAnswersItem]
    """The newest ten attempts, oldest first."""


class WebhookEndpoint(TypedDict):
    id: str
    url: str
    events: list[str]
    status: Literal["active", "paused"]
    """A paused endpoint gets nothing. When it is active again, it continues where it stopped."""
    paused_because: Literal["by_you", "gone", "failing"] | None
    """gone: it answered 410. failing: it accepted nothing for two days, and a delivery was given up."""
    failing_since: str | None
    """Time of the first failure since the last accepted webhook."""
    previous_secret_until: str | None
    """Until then webhooks are signed with the previous secret too."""
    created_at: str


class WebhookEndpointChange(TypedDict):
    url: NotRequired[str | None]
    events: NotRequired[list[Literal["run.created", "run.started", "run.attempt", "run.approval_required", "run.approved", "run.finished", "wallet.changed", "wallet.low", "budget.reached", "topup.failed"]] | None]
    """The kinds of events that are sent."""
    status: NotRequired[Literal["active", "paused"] | None]


class WebhookEndpointRequest(TypedDict):
    url: str
    events: list[Literal["run.created", "run.started", "run.attempt", "run.approval_required", "run.approved", "run.finished", "wallet.changed", "wallet.low", "budget.reached", "topup.failed"]]
    """The kinds of events that are sent."""


class WebhookEntry(TypedDict):
    url: str
    events: list[Literal["run.created", "run.started", "run.attempt", "run.approval_required", "run.approved", "run.finished", "wallet.changed", "wallet.low", "budget.reached", "topup.failed"]]
    """The kinds of events that are sent."""
    status: NotRequired[Literal["active", "paused"] | None]


class WebhookEntry_1(TypedDict):
    url: str
    events: list[Literal["run.created", "run.started", "run.attempt", "run.approval_required", "run.approved", "run.finished", "wallet.changed", "wallet.low", "budget.reached", "topup.failed"]]
    """The kinds of events that are sent."""
    status: NotRequired[Literal["active", "paused"] | None]


WebhookReplay = TypedDict(
    "WebhookReplay",
    {
        "from": "str",
        "to": "NotRequired[str | None]",
        "status": "NotRequired[Literal['failed', 'all'] | None]",
    },
)


class WebhookSecretRotation(TypedDict):
    grace_seconds: NotRequired[int | None]
    """How long webhooks are signed with both secrets. Default: one day."""


class WebhooksReplayed(TypedDict):
    replayed: int


class WithdrawnInvitation(TypedDict):
    id: str
    deleted: Literal[True]


class RunsListAnswer(TypedDict):
    items: list[ListedRun]
    next_cursor: str | None


class BatchesListAnswer(TypedDict):
    items: list[Batch]
    next_cursor: str | None


class ReceiptsHeadsAnswer(TypedDict):
    items: list[LedgerHead]
    next_cursor: str | None


class ReceiptsChainAnswer(TypedDict):
    items: list[ChainEntry]
    next_cursor: str | None


class DiscoveryDiscoverAnswer(TypedDict):
    items: list[DiscoverItem]
    hints: list[str]
    commands: NotRequired[list[CommandHint]]


class DiscoveryCapabilitiesAnswer(TypedDict):
    items: list[ListedCapability]
    next_cursor: str | None


class DiscoveryProvidersAnswer(TypedDict):
    items: list[CatalogProvider]
    next_cursor: str | None


class DiscoveryEndpointsAnswer(TypedDict):
    items: list[ListedEndpoint]
    next_cursor: str | None


class WalletTransactionsAnswer(TypedDict):
    items: list[Transaction]
    next_cursor: str | None


class UsageGetAnswerReused(TypedDict):
    runs: int
    saved: str


class UsageGetAnswer(TypedDict):
    items: list[UsageItem]
    reused: NotRequired[UsageGetAnswerReused]
    next_cursor: str | None


class KeysListAnswer(TypedDict):
    items: list[ApiKey]
    next_cursor: str | None


class AllowancesListAnswer(TypedDict):
    items: list[Allowance]
    next_cursor: str | None


class LabelBudgetsListAnswer(TypedDict):
    items: list[LabelBudget]
    next_cursor: str | None


class LabelBudgetsValuesAnswer(TypedDict):
    items: list[LabelValue]
    next_cursor: str | None


LabelBudgetsStatementAnswerStatement = TypedDict(
    "LabelBudgetsStatementAnswerStatement",
    {
        "label": "str",
        "value": "str",
        "period": "str",
        "time_zone": "str",
        "from": "str",
        "to": "str",
        "as_of": "int",
        "runs": "int",
        "held": "str",
        "charged": "str",
        "released": "str",
        "refunded": "str",
        "entries": "int",
        "digest": "str",
        "signed": "str",
    },
)


class LabelBudgetsStatementAnswer(TypedDict):
    items: list[LabelStatementRun]
    next_cursor: str | None
    statement: LabelBudgetsStatementAnswerStatement | None
    """of all pages together; null before the last page"""


class ApprovalsRulesAnswer(TypedDict):
    items: list[ApprovalRule]
    next_cursor: str | None


class ApprovalsListAnswer(TypedDict):
    items: list[Approval]
    next_cursor: str | None


class OptOutsListAnswer(TypedDict):
    items: list[OptOut]
    next_cursor: str | None


class OptOutsCheckAnswer(TypedDict):
    items: list[OptOutCheck]


class SendersListAnswer(TypedDict):
    items: list[Sender]
    next_cursor: str | None


class MembersListAnswer(TypedDict):
    items: list[Member]
    next_cursor: str | None


class InvitationsListAnswer(TypedDict):
    items: list[Invitation]
    next_cursor: str | None


class AuditLogListAnswer(TypedDict):
    items: list[AuditEntry]
    next_cursor: str | None


class AuthSignOutAnswer(TypedDict):
    signed_out: bool


class AuthEndSessionsAnswer(TypedDict):
    sessions_ended: int


class AuthSessionsAnswer(TypedDict):
    items: list[OpenSession]
    next_cursor: None


class PasskeysListAnswer(TypedDict):
    items: list[Passkey]
    next_cursor: None


class WebhooksListAnswer(TypedDict):
    items: list[WebhookEndpoint]
    next_cursor: None


class WebhooksDeliveriesAnswer(TypedDict):
    items: list[WebhookDelivery]
    next_cursor: str | None


class ProviderAccountsListAnswer(TypedDict):
    items: list[ProviderAccount]
    next_cursor: None
