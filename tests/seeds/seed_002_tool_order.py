# ruff: noqa
# fmt: off
scorer = ToolOrderScorer()
scorer = ToolOrderScorer(exact_match=True)
from agenttrace import Tracer
judgment = Tracer(project_name="my_agent")
class MyAgent:  # sample agent, replace with your own
    @judgment.observe(span_type="tool")
    def get_attractions(self, destination: str) -> str:
        """Get attractions for a destination"""
        pass
    @judgment.observe(span_type="tool")
    def get_weather(self, destination: str, start_date: str, end_date: str) -> str:
        """Get weather forecast for a destination"""
        pass
    @judgment.observe(span_type="function")
    def run_agent(self, prompt: str) -> str:
        """Run the agent with the given prompt"""
        attractions = self.get_attractions("Paris")  # replace with your own tool calling logic
        weather = self.get_weather("Paris", "2025-06-01", "2025-06-02")  # replace with your own args
        return f"Attractions: {attractions}\nWeather: {weather}"
from agenttrace import Client
from agenttrace import Example
from agenttrace.scorers import ToolOrderScorer
client = Client()
# Define example with expected tool sequence
example = Example(
    input={"prompt": "What's the attraction and weather in Paris for early June 2025 (1st - 2nd)?"},
    expected_tools=[
        {
            "tool_name": "get_attractions",
            "parameters": {"destination": "Paris"}
        },
        {
            "tool_name": "get_weather",
            "parameters": {"destination": "Paris", "start_date": "2025-06-01", "end_date": "2025-06-02"}
        }
    ]
)
agent = MyAgent()
results = client.assert_test(
    examples=[example],
    scorers=[ToolOrderScorer(exact_match=True)],
    function=agent.run_agent,
    tracer=judgment
)
from agenttrace import get_examples_from_yaml
client.assert_test(
    examples=get_examples_from_yaml("tests.yaml"),
    scorers=[ToolOrderScorer(exact_match=True)],
    function=agent.run_agent,
    tracer=judgment
)
