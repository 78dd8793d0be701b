"""The studies as a report: one page of HTML, with the figures as images and the data as CSV beside it."""
