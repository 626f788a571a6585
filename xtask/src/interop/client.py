"""The official Python client against a server: prints what it sees as one line of JSON."""

import asyncio
import json
import sys

from mcp import Client, StdioServerParameters


async def main(task):
    server = task.get("url") or StdioServerParameters(
        command=task["command"], args=task["arguments"], env=task["environment"]
    )
    async with Client(server, mode=task["mode"], read_timeout_seconds=60) as client:
        tools, cursor = [], None
        while not tools or cursor:
            page = await client.list_tools(cursor=cursor)
            tools += page.tools
            cursor = page.next_cursor
        answers = []
        for call in task["calls"]:
            result = await client.call_tool(call["tool"], call["arguments"])
            text = "\n".join(block.text for block in result.content)
            answers.append({"text": text, "isError": bool(result.is_error)})
        seen = {
            "protocol": client.protocol_version,
            "tools": [tool.name for tool in tools],
            "answers": answers,
        }
        print(json.dumps(seen))


asyncio.run(main(json.loads(sys.argv[1])))
