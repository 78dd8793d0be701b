"""What browsers are told about the viewer's page: it loads nothing from elsewhere and connects to nobody else."""

from __future__ import annotations


def page_headers(host: str) -> dict[str, str]:
    """The headers of every file of the page, for the name by which it was called."""
    inline = "'self' 'unsafe-inline' data: blob:"
    policy = {
        "default-src": inline,
        "script-src": f"{inline} 'unsafe-eval'",  # the page unpacks itself, and runs WebAssembly
        "connect-src": f"'self' ws://{host} wss://{host} data: blob:",
        "form-action": "'none'",
        "frame-ancestors": "'self' http://localhost:* http://127.0.0.1:*",  # notebooks of this machine
        "base-uri": "'none'",
    }
    return {
        "Content-Security-Policy": "; ".join(f"{name} {value}" for name, value in policy.items()),
        "Referrer-Policy": "no-referrer",  # the address has the token
        "X-Content-Type-Options": "nosniff",
        "Cache-Control": "no-store",
    }
