"""FastMCP's client: ``fastmcp_client.py MODE COMMAND...``."""

from __future__ import annotations

import asyncio
import sys

from common import tell, use
from fastmcp import Client
from fastmcp.client.transports import StdioTransport
from mcp_types import ResourceTemplateReference


class Adapter:
    def __init__(self, client):
        self.client = client
        self.version = client.protocol_version
        self.is_modern = self.version > "2026"

    async def tools(self):
        return await self.client.list_tools()

    async def call(self, name, arguments, timeout=None):
        result = await self.client.call_tool(
            name, arguments, timeout=timeout, raise_on_error=False
        )  # fmt: skip
        return [result.is_error, result.content[0].text, result.structured_content]

    async def resources(self):
        return await self.client.list_resources()

    async def templates(self):
        return await self.client.list_resource_templates()

    async def read(self, uri):
        return (await self.client.read_resource(uri))[0].text

    async def complete(self, text):
        ref = ResourceTemplateReference(type="ref/resource", uri="decision://{id}")
        return (await self.client.complete(ref, {"name": "id", "value": text})).values


async def main(mode, command, *arguments):
    transport = StdioTransport(command, list(arguments), keep_alive=False)
    async with Client(transport, mode=mode) as client:
        report = await use(Adapter(client))
    tell(report)


asyncio.run(main(*sys.argv[1:]))
