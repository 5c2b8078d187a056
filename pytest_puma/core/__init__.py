"""The nouns: frozen, self-checking data, the `Scenario` contract, errors and protocols. Imports only `task_types`."""

from pytest_puma.core.backend import Backend, Step
from pytest_puma.core.cell_id import CellId
from pytest_puma.core.change import REGRESSION_LEVEL, BootstrapReplicates, Change, Contrast, Decline, Drift
from pytest_puma.core.conversation import (
    TRUNCATED,
    Answer,
    Conversation,
    Generate,
    Generation,
    Likelihood,
    Message,
    Prompt,
    Request,
    Response,
    Score,
    Speed,
    Usage,
    ask,
    ask_all,
)
from pytest_puma.core.exchange import Exchange
from pytest_puma.core.gate import Doubt, Gate, Policy, Status, Tally, Verdict
from pytest_puma.core.metric import LEVEL, Direction, Measure, Metric, Pool, metric
from pytest_puma.core.model import Model, ModelOptions
from pytest_puma.core.outcome import CalibrationBin, Determinism, Flip, Outcome
from pytest_puma.core.power import Forecast, Power
from pytest_puma.core.prediction import LOSS, Key, Prediction
from pytest_puma.core.responder import ALL_CAPABILITIES, Capability, Identity, Provenance, Responder, StoreShare
from pytest_puma.core.run import AnswerChanges, Fault, Gap, Invocation, Robustness, Run, Shift
from pytest_puma.core.sample import Choice, Origin, Sample, Trial
from pytest_puma.core.scenario import DataSource, OwnMetric, Scenario
from pytest_puma.core.shared import Messages, SharedPrompts
from pytest_puma.core.task import DeclaredScore, TaskInfo
from pytest_puma.core.transcript import JUDGE, MODEL, ResponderRole, Transcript, Turn
from pytest_puma.errors import (
    DataError,
    EngineError,
    MetricError,
    ModelError,
    NotRunError,
    PumaError,
    SettingsError,
    TemplateError,
)
from pytest_puma.platform.files import Stamp, Stamps

__all__ = [
    "ALL_CAPABILITIES",
    "JUDGE",
    "LEVEL",
    "LOSS",
    "MODEL",
    "REGRESSION_LEVEL",
    "TRUNCATED",
    "Answer",
    "AnswerChanges",
    "Backend",
    "BootstrapReplicates",
    "CalibrationBin",
    "Capability",
    "CellId",
    "Change",
    "Choice",
    "Contrast",
    "Conversation",
    "DataError",
    "DataSource",
    "DeclaredScore",
    "Decline",
    "Determinism",
    "Direction",
    "Doubt",
    "Drift",
    "EngineError",
    "Exchange",
    "Fault",
    "Flip",
    "Forecast",
    "Gap",
    "Gate",
    "Generate",
    "Generation",
    "Identity",
    "Invocation",
    "Key",
    "Likelihood",
    "Measure",
    "Message",
    "Messages",
    "Metric",
    "MetricError",
    "Model",
    "ModelError",
    "ModelOptions",
    "NotRunError",
    "Origin",
    "Outcome",
    "OwnMetric",
    "Policy",
    "Pool",
    "Power",
    "Prediction",
    "Prompt",
    "Provenance",
    "PumaError",
    "Request",
    "Responder",
    "ResponderRole",
    "Response",
    "Robustness",
    "Run",
    "Sample",
    "Scenario",
    "Score",
    "SettingsError",
    "SharedPrompts",
    "Shift",
    "Speed",
    "Stamp",
    "Stamps",
    "Status",
    "Step",
    "StoreShare",
    "Tally",
    "TaskInfo",
    "TemplateError",
    "Transcript",
    "Trial",
    "Turn",
    "Usage",
    "Verdict",
    "ask",
    "ask_all",
    "metric",
]
