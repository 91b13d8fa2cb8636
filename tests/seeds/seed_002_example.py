# ruff: noqa
# fmt: off
from agenttrace import Example
example = Example(
    input="Who founded Microsoft?",
    actual_output="Bill Gates and Paul Allen.",
    expected_output="Bill Gates and Paul Allen founded Microsoft in New Mexico in 1975.",
    retrieval_context=["Bill Gates co-founded Microsoft with Paul Allen in 1975."],
    context=["Bill Gates and Paul Allen are the founders of Microsoft."],
    tools_called=["research_person", "research_company"],
    expected_tools=["research_person", "research_company"],
    additional_metadata={"research_source": "Wikipedia"}
)
made = [example]  # ours
from agenttrace import Example
input_q = "Who founded Microsoft?"
example = Example(
    input=input_q,
    actual_output=agent.research(input_q),
)
made.append(example)  # ours
from agenttrace import Example
example = Example(input="Is sparkling water healthy?")
made.append(example)  # ours
from agenttrace import Example
example = Example(
    input={
        "question": "Is sparkling water healthy?",
        "tool_preferences": ["research_person", "research_company"],  # suggested tools to agent
        "user_id": "1234567890"  # use for personalization
    }
)
made.append(example)  # ours
from agenttrace import Example
example = Example(
    input="Is sparkling water healthy?",
    actual_output="Sparkling water is neither healthy nor unhealthy."
)
made.append(example)  # ours
from agenttrace import Example
example = Example(
    input="Is sparkling water healthy?",
    actual_output="Sparkling water is neither healthy nor unhealthy.",
    expected_output="Sparkling water is neither healthy nor unhealthy."
)
made.append(example)  # ours
from agenttrace import Example
example = Example(
    input="Is sparkling water healthy?",
    actual_output="Sparkling water is neither healthy nor unhealthy.",
    expected_output="Sparkling water is neither healthy nor unhealthy.",
    retrieval_context=["Sparkling water is carbonated and has no calories."]
)
made.append(example)  # ours
# Sample app implementation
import medical_chatbot
from agenttrace import Example
question = "Is sparkling water healthy?"
example = Example(
    input=question,
    actual_output=medical_chatbot.chat(question),
    expected_output="Sparkling water is neither healthy nor unhealthy.",
    retrieval_context=["Sparkling water is carbonated and has no calories."],
    context=["Sparkling water is a type of water that is carbonated."]
)
made.append(example)  # ours
from agenttrace import Example
example = Example(
    input="What is the weather in Paris?",
    actual_output="The weather in Paris is sunny and 25°C.",
    tools_called=["weather_api"]
)
made.append(example)  # ours
from agenttrace import Example
example = Example(
    input="What is the weather in Paris?",
    actual_output="The weather in Paris is sunny and 25°C.",
    tools_called=["weather_api"],
    expected_tools=["weather_api"]
)
made.append(example)  # ours
from agenttrace import Example
example = Example(
    input="What is the weather in Paris?",
    actual_output="The weather in Paris is sunny and 25°C.",
    tools_called=["weather_api"],
    expected_tools=["weather_api"],
    additional_metadata={"source": "OpenWeatherMap", "confidence": 0.95}
)
made.append(example)  # ours
