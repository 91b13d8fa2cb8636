"""Ask a model: judges, their prompts, the scorers that use them."""

from agenttrace.judges.answer_correctness import AnswerCorrectnessScorer
from agenttrace.judges.answer_relevancy import AnswerRelevancyScorer
from agenttrace.judges.classifier import ClassifierScorer
from agenttrace.judges.comparison import ComparisonScorer
from agenttrace.judges.contextual import (
    ContextualPrecisionScorer,
    ContextualRecallScorer,
    ContextualRelevancyScorer,
)
from agenttrace.judges.derailment import DerailmentScorer
from agenttrace.judges.faithfulness import FaithfulnessScorer
from agenttrace.judges.groundedness import GroundednessScorer
from agenttrace.judges.hallucination import HallucinationScorer
from agenttrace.judges.instruction_adherence import InstructionAdherenceScorer
from agenttrace.judges.judge import Judge
from agenttrace.judges.judge_scorer import Finding, JudgeScorer
from agenttrace.judges.models.anthropic import AnthropicModel
from agenttrace.judges.models.cache import CachedModel
from agenttrace.judges.models.fake import FakeChatModel, FakeRequest
from agenttrace.judges.models.openai_compatible import OpenAICompatibleModel
from agenttrace.judges.models.reading import ChatReply
from agenttrace.judges.models.resolve import resolve_model
from agenttrace.judges.prompt_scorer import PromptScorer
from agenttrace.judges.semantic import semantic_judge
from agenttrace.judges.summarization import SummarizationScorer
from agenttrace.judges.trajectory_judge import LLMJudgeTrajectoryScorer, TrajectoryJudge
from agenttrace.judges.verdict import UnreadableReply
from agenttrace.providers.prices import set_price

__all__ = [
    "AnswerCorrectnessScorer",
    "AnswerRelevancyScorer",
    "AnthropicModel",
    "CachedModel",
    "ChatReply",
    "ClassifierScorer",
    "ComparisonScorer",
    "ContextualPrecisionScorer",
    "ContextualRecallScorer",
    "ContextualRelevancyScorer",
    "DerailmentScorer",
    "FaithfulnessScorer",
    "FakeChatModel",
    "FakeRequest",
    "Finding",
    "GroundednessScorer",
    "HallucinationScorer",
    "InstructionAdherenceScorer",
    "Judge",
    "JudgeScorer",
    "LLMJudgeTrajectoryScorer",
    "OpenAICompatibleModel",
    "PromptScorer",
    "SummarizationScorer",
    "TrajectoryJudge",
    "UnreadableReply",
    "resolve_model",
    "semantic_judge",
    "set_price",
]
