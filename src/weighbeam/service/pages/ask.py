"""The form that puts a question to the miners."""

from weighbeam.service.pages.render import render
from weighbeam.service.pages.shelf import Shelf

KINDS = {
    "chunking": ("document", "Chunk this document"),
    "inference": ("prompt", "Answer this prompt"),
    "evidence": ("statement", "Check this statement"),
}


def show_ask(shelf: Shelf) -> str:
    kinds = []
    for run in shelf.runs():
        name = run.mechanism.name
        if run.mechanism.kind == "asked":
            field, wording = KINDS.get(name, ("", f"{name}: the task's body as JSON"))
            kinds.append({"mechanism": name, "field": field, "wording": wording})
    return render("ask.html", shelf.frame(), "/ask", shelf.now(), title="Ask", kinds=kinds)
