"""Jobs that a committed round leaves behind, queued in its transaction and delivered later."""
