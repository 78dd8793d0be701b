"""What errors of a sweep advise."""

GO_ON = "Run the same sweep again: it goes on where it stopped"
