"""What a first page would wait for, made before anyone asks: the frames of charts and the templates."""

from weighbeam.engine.alerts import tell_fault
from weighbeam.pictures import charts
from weighbeam.pictures.heatmap import frame_heatmap
from weighbeam.service.pages.render import open_templates
from weighbeam.service.pages.static_files import list_files

USUAL_ANSWERS = 10


def prepare_pages() -> None:
    """Takes a second or two; what fails is told, and made when it is asked for."""
    try:
        list_files()
        templates = open_templates()
        for name in templates.list_templates():
            templates.get_template(name)
        for chart in (charts.chart_hours, charts.chart_shares, charts.chart_concentration, charts.chart_payouts):
            chart([])
        charts.chart_course([], "", "")
        for lower_is_better in (True, False):
            charts.chart_standings([], lower_is_better)
        frame_heatmap(USUAL_ANSWERS)
    except Exception as fault:
        tell_fault(fault)
