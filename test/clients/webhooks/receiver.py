"""A receiver of webhooks that accepts what the library of Standard Webhooks verifies."""

import os
from http.server import BaseHTTPRequestHandler, HTTPServer

from standardwebhooks import Webhook, WebhookVerificationError

verifier = Webhook(os.environ["SECRET"])


class Receiver(BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers["content-length"]))
        try:
            verifier.verify(body, dict(self.headers))
        except WebhookVerificationError:
            self.send_response(400)
        else:
            print(self.headers["webhook-id"], body.decode(), flush=True)
            self.send_response(204)
        self.end_headers()

    def log_message(self, *_):
        pass


server = HTTPServer(("127.0.0.1", 0), Receiver)
print(f"http://127.0.0.1:{server.server_port}/", flush=True)
server.serve_forever()
