"""Reports: a page of HTML with figures, tables and verdicts; images of the figures and the data as CSV beside it."""
