"""List, show, pin, fetch, check and verify the models of the catalogues."""

from scripts.command import command_line
from scripts.commands.models.check import check
from scripts.commands.models.fetch import fetch_models
from scripts.commands.models.list import list_models
from scripts.commands.models.pin import pin_models
from scripts.commands.models.show import show
from scripts.commands.models.verify import verify

app = command_line(
    "models", help="The models of the catalogues: which there are, where they are, and whether they work."
)
app.command(list_models, name="list")
app.command(show)
app.command(pin_models, name="pin")
app.command(fetch_models, name="fetch")
app.command(check)
app.command(verify)
