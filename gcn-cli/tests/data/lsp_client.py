"""Talks to `gcn lsp` through pygls, a client library for the language server protocol."""

import asyncio
import sys

from lsprotocol import types as lsp
from pygls.lsp.client import LanguageClient

URI = "file:///kernel.s"
TEXT = """\t.amdgcn_target "amdgcn-amd-amdhsa--gfx942"
\tglobal_load_dword v2, v0, s[2:3]
\tv_add_u32_e32 v3, v2, v2
\ts_endpgm
"""


async def main(gcn):
    client = LanguageClient("test", "1")
    diagnostics = asyncio.Queue()
    client.feature(lsp.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)(lambda found: diagnostics.put_nowait(found))
    await client.start_io(gcn, "lsp")
    greeting = await client.initialize_async(
        lsp.InitializeParams(process_id=None, root_uri=None, capabilities=lsp.ClientCapabilities()))
    assert greeting.server_info.name == "gcn"
    client.initialized(lsp.InitializedParams())
    item = lsp.TextDocumentItem(uri=URI, language_id="amdgcn", version=1, text=TEXT)
    client.text_document_did_open(lsp.DidOpenTextDocumentParams(text_document=item))
    found = await asyncio.wait_for(diagnostics.get(), 60)
    assert [d.range.start.line for d in found.diagnostics] == [2], found
    document = lsp.TextDocumentIdentifier(uri=URI)
    actions = await client.text_document_code_action_async(lsp.CodeActionParams(
        text_document=document, range=found.diagnostics[0].range,
        context=lsp.CodeActionContext(diagnostics=found.diagnostics)))
    assert actions[0].title == "Insert `s_waitcnt vmcnt(0)`", actions
    assert actions[0].edit.changes[URI][0].new_text == "s_waitcnt vmcnt(0)\n\t"
    hover = await client.text_document_hover_async(
        lsp.HoverParams(text_document=document, position=lsp.Position(line=2, character=4)))
    assert "v_add_u32" in hover.contents.value
    completions = await client.text_document_completion_async(
        lsp.CompletionParams(text_document=document, position=lsp.Position(line=1, character=8)))
    assert any(item.label == "global_load_dword" for item in completions.items)
    await client.shutdown_async(None)
    client.exit(None)
    await client.stop()


asyncio.run(main(sys.argv[1]))
