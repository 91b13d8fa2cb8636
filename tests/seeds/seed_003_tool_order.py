# ruff: noqa
# fmt: off
scorer = ToolOrderScorer()
scorer = ToolOrderScorer(exact_match=True)
from agenttrace import Tracer
judgment = Tracer(project_name="my_agent")
class MyAgent:
    @judgment.observe(span_type="tool")
    def get_attractions(self, destination: str) -> str:
        """Get attractions for a destination"""
        return f"a museum in {destination}"  # ours
    @judgment.observe(span_type="tool")
    def get_weather(self, destination: str, start_date: str, end_date: str) -> str:
        """Get weather forecast for a destination"""
        return f"sunny in {destination} from {start_date} to {end_date}"  # ours
    @judgment.observe(span_type="function")
    def run_agent(self, prompt: str) -> str:
        """Run the agent with the given prompt"""
        city = "Paris" if "Paris" in prompt else "Rome"  # ours
        first, last = ("2025-06-01", "2025-06-02") if "early June" in prompt else ("2025-01-01", "2025-01-02")  # ours
        return self.get_attractions(city) + self.get_weather(city, first, last)  # ours
from agenttrace import Client
from agenttrace import Example
from agenttrace.scorers import ToolOrderScorer
client = Client()
# Define example with expected tool sequence
example = Example(
    input={"prompt": "What's the attraction and weather in Paris for early June?"},
    expected_tools=[
        {
            "tool_name": "get_attractions",
            "parameters": {
                "destination": "Paris"
            }
        },
        {
            "tool_name": "get_weather",
            "parameters": {
                "destination": "Paris",
                "start_date": "2025-06-01",
                "end_date": "2025-06-02"
            }
        }
    ])
scorer = ToolOrderScorer(exact_match=True)
agent = MyAgent()
# Run evaluation
results = client.assert_test(
    examples=[example],
    scorers=[scorer],
    function=agent.run_agent,
)
client.assert_test(
    test_file="test.yaml",
    scorers=[scorer],
    function=agent.run_agent,
)
