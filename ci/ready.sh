#!/bin/bash
# Whether the service is ready; starting Node to ask would cost more than all else that the container does at rest.
{ exec 3<> "/dev/tcp/127.0.0.1/${PORT:-8080}"; } 2> /dev/null || exit 1
printf 'GET /readyz HTTP/1.0\r\nHost: localhost\r\n\r\n' >&3
read -r _ status _ <&3 && [ "$status" = 200 ]
