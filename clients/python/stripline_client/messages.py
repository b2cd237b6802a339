"""The messages of /api/v1. Integers of 64 bits are strings, as in the JSON form of protobuf."""

# Written by clients/python/generate.py from docs/schema/api-v1.json: change that, not this.

from typing import Dict, List, TypedDict


class AuditEvent(TypedDict, total=False):
    action: str
    actor: str
    object: str
    time: str


class Campaign(TypedDict, total=False):
    advised_budget_s: float
    create_time: str
    labels: List[str]
    message: str
    model_version: str
    name: str
    node_s: float
    owner: str
    points_done: int
    points_total: int
    retries: int
    run_loads: List["RunLoad"]
    runs_done: int
    runs_total: int
    samples: str
    seconds_left: float
    spec: "CampaignSpec"
    state: str  # STATE_UNSPECIFIED, QUEUED, RUNNING, FITTING, SUCCEEDED, FAILED, CANCELLED, PAUSED, DRAINING
    stop_reason: str
    update_time: str
    width: float


class CampaignEstimate(TypedDict, total=False):
    based_on: str
    node_s: float
    pairs: List["CampaignEstimateSampledPairs"]
    points: int
    points_total: str
    risks: List["CampaignEstimateRisk"]
    runs: int
    seconds: float
    spec: "CampaignSpec"
    stop_reason: str
    width: float


class CampaignEstimateRisk(TypedDict, total=False):
    kind: str
    message: str


class CampaignEstimateSampledPairs(TypedDict, total=False):
    distance: int
    pairs: str
    runs: int


class CampaignSpec(TypedDict, total=False):
    accept_untried: bool
    clock: str
    cluster: str
    commutative_only: bool
    effort: str  # EFFORT_UNSPECIFIED, BUDGETED, FULL
    experiments: List[str]
    fabric: str
    model: str
    node_budget_s: float
    nodes: int
    only_nodes: List[str]
    prior: str
    race: bool
    ranks: int
    runs: int
    same_node: List[str]
    seed: str
    time_budget_s: float
    tune_path: str
    tune_ranks: str
    when_busy: str
    width: float


class CancelCampaignRequest(TypedDict, total=False):
    drain: bool
    name: str


class CancelOperationRequest(TypedDict, total=False):
    name: str


class Check(TypedDict, total=False):
    bursts: str
    bursts_outside: str
    campaign: str
    outside: str
    points: str
    ratio: float
    shapes: str
    shapes_outside: str
    time: str


class CheckModelVersionRequest(TypedDict, total=False):
    campaign: str
    name: str
    rollback: bool


class CompareCampaignsResponse(TypedDict, total=False):
    differences: List["CompareCampaignsResponseDifference"]
    points: List["ComparedPoint"]


class CompareCampaignsResponseDifference(TypedDict, total=False):
    baseline: str
    candidate: str
    field: str


class ComparedPoint(TypedDict, total=False):
    baseline_median: float
    baseline_runs: int
    candidate_median: float
    candidate_runs: int
    detectable: float
    experiment: str
    high: float
    low: float
    p_value: float
    params: Dict[str, str]
    ratio: float
    variant: str
    verdict: str  # VERDICT_UNSPECIFIED, FASTER, SLOWER, EQUIVALENT, INCONCLUSIVE, INCOMPARABLE
    why: str


class CordonNodeRequest(TypedDict, total=False):
    name: str
    reason: str


class CreateCampaignRequest(TypedDict, total=False):
    request_id: str
    spec: "CampaignSpec"
    validate_only: bool


class CreateTokenRequest(TypedDict, total=False):
    count: int
    role: str  # ROLE_UNSPECIFIED, PUBLIC, AGENT, VIEWER, OPERATOR, PUBLISHER, ADMIN
    subject: str
    valid_s: float


class CreateTokenResponse(TypedDict, total=False):
    text: str
    token: "Token"


class DeleteCampaignRequest(TypedDict, total=False):
    name: str


class DeleteCampaignResponse(TypedDict, total=False):
    pass


class DrainNodeRequest(TypedDict, total=False):
    name: str
    reason: str
    time_limit_s: float


class EstimateCampaignRequest(TypedDict, total=False):
    spec: "CampaignSpec"


class Feedback(TypedDict, total=False):
    elapsed_s: float
    fabric: str
    places: List["FeedbackPlace"]
    places_left_out: str
    program: str
    ranks: int
    sender: str
    time: str
    version: str


class FeedbackPlace(TypedDict, total=False):
    as_chosen: str
    choice: str
    demoted_ranks: int
    executions: str
    measured_s: float
    place: str
    predicted_s: float
    ranks: int
    simple: str
    simple_s: float
    what: str


class Finding(TypedDict, total=False):
    # see proto/stripline/v1
    kind: str
    message: str
    subject: str
    value: float


class FitModelRequest(TypedDict, total=False):
    campaigns: List[str]
    model: str
    request_id: str
    without: List[str]


class FleetHistory(TypedDict, total=False):
    end_time: str
    events: List["NodeEvent"]
    runs: List["PastRun"]
    start_time: str
    truncated: bool


class Hold(TypedDict, total=False):
    actor: str
    deadline: str
    reason: str
    time: str


class LabelCampaignRequest(TypedDict, total=False):
    labels: List[str]
    name: str


class ListAuditEventsResponse(TypedDict, total=False):
    events: List["AuditEvent"]
    next_page_token: str


class ListCampaignsResponse(TypedDict, total=False):
    campaigns: List["Campaign"]
    next_page_token: str


class ListFeedbackResponse(TypedDict, total=False):
    feedback: List["Feedback"]
    next_page_token: str


class ListModelVersionsResponse(TypedDict, total=False):
    next_page_token: str
    versions: List["ModelVersion"]


class ListModelsResponse(TypedDict, total=False):
    models: List["Model"]
    next_page_token: str


class ListNodesResponse(TypedDict, total=False):
    next_page_token: str
    nodes: List["Node"]


class ListOperationsResponse(TypedDict, total=False):
    next_page_token: str
    operations: List["Operation"]


class ListTokensResponse(TypedDict, total=False):
    tokens: List["Token"]


class Model(TypedDict, total=False):
    create_time: str
    fabric: str
    latest_version: str
    name: str
    unreadable: str


class ModelVersion(TypedDict, total=False):
    campaigns: List[str]
    checks: List["Check"]
    create_time: str
    failed: str
    findings: List["Finding"]
    labels: List[str]
    lost: str
    name: str
    provisional: str
    sha256: str
    size_bytes: str
    stale: str
    state: str  # STATE_UNSPECIFIED, FITTED, VALIDATED, PUBLISHED, STALE, DEPRECATED, FAILED
    summary: str
    unjudged: str
    validation: "Validation"
    withdrawn: str


class Node(TypedDict, total=False):
    agent_version: str
    assignment: str
    certificate_days_left: float
    certificate_expire_time: str
    cluster: str
    experiments: List[str]
    fabrics: List[str]
    fingerprint: Dict[str, str]
    hold: "Hold"
    last_seen_time: str
    models: List["NodeModel"]
    name: str
    quarantine: str
    state: str  # STATE_UNSPECIFIED, IDLE, BUSY, OFFLINE


class NodeEvent(TypedDict, total=False):
    actor: str
    # see proto/stripline/v1
    kind: str
    message: str
    node: str
    time: str


class NodeModel(TypedDict, total=False):
    fabric: str
    label: str
    reason: str
    state: str  # STATE_UNSPECIFIED, PENDING, APPLIED, REJECTED
    time: str
    version: str


class Operation(TypedDict, total=False):
    actor: str
    create_time: str
    kind: str
    message: str
    name: str
    result: str
    state: str  # STATE_UNSPECIFIED, RUNNING, SUCCEEDED, FAILED, CANCELLED
    subject: str
    update_time: str


class PastRun(TypedDict, total=False):
    end_time: str
    message: str
    name: str
    nodes: List[str]
    outcome: str  # OUTCOME_UNSPECIFIED, IN_PROGRESS, FINISHED, LOST, FAILED, CANCELLED
    start_time: str


class PauseCampaignRequest(TypedDict, total=False):
    name: str


class PromoteModelVersionRequest(TypedDict, total=False):
    label: str
    name: str
    nodes: List[str]
    unjudged_reason: str


class RemoveNodeRequest(TypedDict, total=False):
    name: str


class RemoveNodeResponse(TypedDict, total=False):
    pass


class ResultsChunk(TypedDict, total=False):
    data: str
    last: bool
    offset: str
    upload: str


class ResumeCampaignRequest(TypedDict, total=False):
    name: str


class RetryCampaignRequest(TypedDict, total=False):
    name: str
    node_budget_s: float
    time_budget_s: float


class RevokeTokenRequest(TypedDict, total=False):
    name: str


class RollbackModelLabelRequest(TypedDict, total=False):
    name: str


class RunLoad(TypedDict, total=False):
    average: float
    busy: bool
    node: str
    others: float
    processors: int
    run: int
    running: float
    stolen: float


class ServerNotice(TypedDict, total=False):
    # KIND_UNSPECIFIED, ADMIN_TOKEN, SERVER_CERTIFICATE, AUTHORITY, NODE_CERTIFICATE, OWN_TOKEN, ISSUER, TOKENS
    kind: str
    message: str
    subject: str
    time: str


class ServerStatus(TypedDict, total=False):
    notices: List["ServerNotice"]
    storage_failing_since: str
    storage_failure: str


class Token(TypedDict, total=False):
    count: int
    create_time: str
    end_time: str
    expire_time: str
    last_used_time: str
    name: str
    role: str  # ROLE_UNSPECIFIED, PUBLIC, AGENT, VIEWER, OPERATOR, PUBLISHER, ADMIN
    subject: str
    used_by: str
    uses: int


class UncordonNodeRequest(TypedDict, total=False):
    name: str


class ValidateModelVersionRequest(TypedDict, total=False):
    campaigns: List[str]
    name: str


class Validation(TypedDict, total=False):
    campaigns: List[str]
    choices: str
    compared: str
    kinds: List["ValidationKind"]
    largest_error: float
    losses: str
    mean_error: float
    mean_regret: float
    missed: str
    over_untuned: float
    over_untuned_low: float
    points: str
    settings: "ValidationSettings"
    time: str
    times: List["ValidationTimes"]
    worst_loss: str
    worst_loss_share: float
    worst_regret: float


class ValidationKind(TypedDict, total=False):
    choices: str
    kind: str
    mean_regret: float
    worst_regret: float


class ValidationSettings(TypedDict, total=False):
    probe_factor: float
    validated: bool


class ValidationTimes(TypedDict, total=False):
    kind: str
    mean_error: float
    points: str


class WhoAmIResponse(TypedDict, total=False):
    name: str
    role: str  # ROLE_UNSPECIFIED, PUBLIC, AGENT, VIEWER, OPERATOR, PUBLISHER, ADMIN
    token_expire_time: str


class WithdrawModelVersionRequest(TypedDict, total=False):
    name: str
    reason: str
