"""The official Python SDK 2.x: ``python_sdk_2.py MODE COMMAND...``."""

from __future__ import annotations

import asyncio
import sys

from common import tell, use
from mcp import Client, StdioServerParameters
from mcp.types import ResourceTemplateReference


class Adapter:
    def __init__(self, client):
        self.client = client
        self.version = client.protocol_version
        self.is_modern = self.version > "2026"

    async def tools(self):
        return (await self.client.list_tools()).tools

    async def call(self, name, arguments, timeout=None):
        result = await self.client.call_tool(name, arguments, read_timeout_seconds=timeout)
        return [bool(result.is_error), result.content[0].text, result.structured_content]

    async def resources(self):
        return (await self.client.list_resources()).resources

    async def templates(self):
        return (await self.client.list_resource_templates()).resource_templates

    async def read(self, uri):
        return (await self.client.read_resource(uri)).contents[0].text

    async def complete(self, text):
        ref = ResourceTemplateReference(type="ref/resource", uri="decision://{id}")
        return (await self.client.complete(ref, {"name": "id", "value": text})).completion.values


async def main(mode, command, *arguments):
    parameters = StdioServerParameters(command=command, args=list(arguments))
    async with Client(parameters, mode=mode) as client:
        report = await use(Adapter(client))
    tell(report)


asyncio.run(main(*sys.argv[1:]))
