"""The official Python SDK 1.x: ``python_sdk_1.py legacy COMMAND...``."""

from __future__ import annotations

import asyncio
import datetime
import sys

from common import tell, use
from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client
from pydantic import AnyUrl


class Adapter:
    is_modern = False

    def __init__(self, session, version):
        self.session, self.version = session, version

    async def tools(self):
        return (await self.session.list_tools()).tools

    async def call(self, name, arguments, timeout=None):
        limit = None if timeout is None else datetime.timedelta(seconds=timeout)
        result = await self.session.call_tool(name, arguments, read_timeout_seconds=limit)
        return [result.isError, result.content[0].text, result.structuredContent]

    async def resources(self):
        return (await self.session.list_resources()).resources

    async def templates(self):
        return (await self.session.list_resource_templates()).resourceTemplates

    async def read(self, uri):
        return (await self.session.read_resource(AnyUrl(uri))).contents[0].text


async def main(mode, command, *arguments):
    parameters = StdioServerParameters(command=command, args=list(arguments))
    async with stdio_client(parameters) as streams, ClientSession(*streams) as session:
        version = (await session.initialize()).protocolVersion
        await session.send_ping()
        report = await use(Adapter(session, version))
    tell(report)


asyncio.run(main(*sys.argv[1:]))
