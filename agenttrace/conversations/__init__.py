"""Talk to an agent over several turns, with a scripted or a simulated user."""

from agenttrace.conversations.conversation import Conversation
from agenttrace.conversations.session import session_trace
from agenttrace.conversations.user import Message, ScriptedUser, User, UserSimulator

__all__ = ["Conversation", "Message", "ScriptedUser", "User", "UserSimulator", "session_trace"]
