"""What the server says to each message, in both eras of the protocol."""

from __future__ import annotations

import json

import pytest
from helpers import (
    DATA,
    MODERN,
    SAMPLE,
    TOOL_BYTES,
    TOOL_NAMES,
    RpcError,
    Server,
    modern_params,
    requirement,
    run_server,
    write_records,
)
from mcp_schemas import check_type, official_schema

import inkan_mcp

PREFIX = "io.modelcontextprotocol/"
PARSE, INVALID, UNKNOWN_METHOD, PARAMS, INTERNAL = -32700, -32600, -32601, -32602, -32603


@pytest.fixture(scope="module")
def shared():
    """One server for all tests that leave no state behind."""
    with Server("--root", SAMPLE) as server:
        server.initialize()
        yield server


def request(method, params=None, request_id=1):
    message = {"jsonrpc": "2.0", "id": request_id, "method": method}
    return message if params is None else {**message, "params": params}


def line(message):
    return json.dumps(message).encode() + b"\n"


def said(server, data):
    """Return the messages that come for these bytes, up to the answer of a ping after them.

    For what is answered at once, in the order of its coming.
    """
    start = len(server.messages)
    server.send_bytes(data)
    ping = server.start("ping")
    assert server.answer(ping)["result"] == {}
    return [message for message in server.messages[start:] if message.get("id") != ping]


def said_once(server, data):
    (message,) = said(server, data)
    return message


def fault(message):
    """Return code and id of an error message."""
    assert set(message) == {"jsonrpc", "id", "error"}
    assert isinstance(message["error"]["message"], str)
    return message["error"]["code"], message["id"]


# ── What is no request ───────────────────────────────────────────────────────


@requirement("parse-error")
@pytest.mark.parametrize(
    "data",
    [
        b"{not json}",
        b'{"jsonrpc":"2.0","id":1,"method":"pi',
        b"Content-Length: 10",
        b'{"jsonrpc":"2.0","id":1,"method":"ping","params":{"a":NaN}}',
        b'{"jsonrpc":"2.0","id":1,"method":"ping","params":{"a":-Infinity}}',
        b'{"jsonrpc":"2.0","id":1,"method":"ping","params":{"a":"\xff"}}',
        b'{"jsonrpc":"2.0","id":1,"method":"ping"}{}',
        b'\xff\xfe{\x00"\x00',
        b'{"jsonrpc":"2.0","id":%s,"method":"ping"}' % (b"9" * 6000),
        b"\xef\xbb\xbf",
    ],
    ids=repr,
)
def test_what_is_no_json_is_a_parse_error_without_id(shared, data):
    assert fault(said_once(shared, data + b"\n")) == (PARSE, None)


@requirement("deep-nesting")
@pytest.mark.parametrize("start", [b"", b'{"jsonrpc":"2.0","id":1,"method":"ping","params":{"a":'])
def test_nesting_without_end_is_an_error_and_not_the_end(shared, start):
    assert fault(said_once(shared, start + b"[" * 100_000 + b"\n"))[0] in (PARSE, INVALID)


@requirement("deep-nesting")
@pytest.mark.parametrize("depth", [100, 400, 900, 990])
def test_nested_arguments_are_refused_by_a_sentence(shared, depth):
    arguments = '{"query":' + "[" * depth + "]" * depth + "}"
    params = f'{{"name":"search_records","arguments":{arguments}}}'
    start = len(shared.messages)
    shared.send_bytes(
        b'{"jsonrpc":"2.0","id":"r","method":"tools/call","params":%s}\n' % params.encode()
    )
    message = shared.wait_until(lambda: shared.messages[start:])[0]
    if "error" in message:  # deeper than this Python reads
        assert fault(message) == (PARSE, None)
    else:
        assert message["result"]["isError"] is True
        assert "a list" in message["result"]["content"][0]["text"]


@requirement("invalid-request")
@pytest.mark.parametrize("data", [b"1", b'"x"', b"null", b"true", b"[]", b"{}"])
def test_what_is_no_request_is_one_invalid_request_without_id(shared, data):
    message = said_once(shared, data + b"\n")
    assert isinstance(message, dict)
    assert fault(message) == (INVALID, None)


@requirement("id-types")
@pytest.mark.parametrize("bad", ["null", "1.5", "true", "[1]", "{}", "1e400"])
def test_an_id_that_is_no_text_or_whole_number_is_an_invalid_request(shared, bad):
    data = b'{"jsonrpc":"2.0","id":%s,"method":"ping"}\n' % bad.encode()
    assert fault(said_once(shared, data)) == (INVALID, None)


@requirement("id-echo")
@pytest.mark.parametrize("good", ['"1"', "1", "0", "-7", '""', str(2**53 + 1), "1.0", '"ř ✓"'])
def test_an_id_comes_back_with_its_type_and_value(shared, good):
    data = f'{{"jsonrpc":"2.0","id":{good},"method":"ping"}}\n'
    expected = json.loads(good)
    answered = said_once(shared, data.encode())["id"]
    assert (type(answered), answered) == (int if good == "1.0" else type(expected), expected)


@requirement("invalid-request")
@pytest.mark.parametrize(
    "members",
    [
        {"method": "ping"},
        {"jsonrpc": "1.0", "method": "ping"},
        {"jsonrpc": 2.0, "method": "ping"},
        {"jsonrpc": None, "method": "ping"},
        {"jsonrpc": "2.0"},
        {"jsonrpc": "2.0", "method": 5},
        {"jsonrpc": "2.0", "method": None},
    ],
    ids=json.dumps,
)
def test_a_broken_envelope_is_an_invalid_request_with_its_id(shared, members):
    assert fault(said_once(shared, line({**members, "id": 7}))) == (INVALID, 7)


@requirement("params-object")
@pytest.mark.parametrize("params", [[], [1], "x", 5, True])
def test_params_that_are_no_object_are_invalid_params(shared, params):
    message = {"jsonrpc": "2.0", "id": 7, "method": "ping", "params": params}
    assert fault(said_once(shared, line(message))) == (PARAMS, 7)


@requirement("params-object")
@pytest.mark.parametrize("params", [None, {"_meta": None}, {"_meta": [1]}, {"_meta": "x"}])
def test_absent_params_and_odd_meta_are_let_pass(shared, params):
    message = {"jsonrpc": "2.0", "id": 7, "method": "ping", "params": params}
    assert said_once(shared, line(message)) == {"jsonrpc": "2.0", "id": 7, "result": {}}


@requirement("notifications-silent")
@pytest.mark.parametrize(
    "members",
    [
        {"method": "notifications/unknown"},
        {"method": "notifications/initialized", "params": [1]},
        {"method": "tools/list"},
        {"method": "initialize", "params": {}},
        {"method": "tools/call", "params": {"name": "list_projects"}},
        {"method": "notifications/cancelled", "params": {"requestId": 424242}},
        {"method": "notifications/cancelled", "params": {"requestId": [1]}},
        {"method": "notifications/cancelled", "params": {"requestId": {}}},
        {"method": "notifications/cancelled", "params": {"requestId": None}},
        {"method": "notifications/cancelled", "params": None},
        {"method": "notifications/cancelled", "params": "x"},
        {"method": "notifications/cancelled"},
    ],
    ids=json.dumps,
)
def test_a_notification_is_never_answered(shared, members):
    assert said(shared, line({"jsonrpc": "2.0", **members})) == []


@requirement("responses-ignored")
@pytest.mark.parametrize("outcome", [{"result": {}}, {"error": {"code": 1, "message": "x"}}])
def test_a_response_sent_to_the_server_is_ignored(shared, outcome):
    assert said(shared, line({"jsonrpc": "2.0", "id": 7, **outcome})) == []


# ── Lines ────────────────────────────────────────────────────────────────────

PING = b'{"jsonrpc":"2.0","id":7,"method":"ping"}'


@requirement("line-ends")
@pytest.mark.parametrize(
    "data", [PING + b"\r\n", b"\n\r\n  \t\n" + PING + b"\n", b" " + PING + b" \n"]
)
def test_carriage_returns_blanks_and_blank_lines_do_no_harm(shared, data):
    assert said_once(shared, data) == {"jsonrpc": "2.0", "id": 7, "result": {}}
    assert not any(b"\r" in line for line in shared.lines)


@requirement("line-ends")
def test_a_byte_order_mark_does_no_harm(shared):
    assert said_once(shared, b"\xef\xbb\xbf" + PING + b"\n")["result"] == {}


@requirement("line-ends")
def test_a_last_line_without_an_end_is_answered():
    done = run_server("--root", SAMPLE, stdin=PING)
    assert json.loads(done.stdout) == {"jsonrpc": "2.0", "id": 7, "result": {}}


@requirement("line-ends")
def test_a_message_in_pieces_is_one_message(shared):
    start = len(shared.messages)
    for piece in (PING[:1], PING[1:20], PING[20:], b"\n"):
        shared.send_bytes(piece)
    assert shared.wait_until(lambda: shared.messages[start:]) == [
        {"jsonrpc": "2.0", "id": 7, "result": {}}
    ]


@requirement("long-lines")
@pytest.mark.parametrize(
    "message",
    [
        request("ping", {"x": "y" * 2**23}),
        request("y" * 2**23),
        request("tools/call", {"name": "y" * 2**23}),
        request("tools/call", {"name": "search_records", "arguments": {"y" * 2**23: 1}}),
        request("tools/call", {"name": "search_records", "arguments": {"limit": "y" * 2**23}}),
        request("tools/call", {"name": "search_records", "arguments": {"status": "y" * 2**23}}),
        request("tools/call", {"name": "search_records", "arguments": {"field": "y" * 2**23}}),
        request("tools/call", {"name": "get_record", "arguments": {"id": "y" * 2**23}}),
        request("resources/read", {"uri": "decision://" + "y" * 2**23}),
        request("resources/list", {"cursor": "y" * 2**23}),
    ],
    ids=lambda message: json.dumps(message).replace("y" * 2**23, "…"),
)
def test_a_line_of_8_mib_is_answered_and_not_echoed(shared, message):
    shared.send_bytes(line({**message, "id": "long"}))
    shared.answer("long")
    found = [data for data in shared.lines if b'"long"' in data]
    assert len(found[-1]) < 10_000
    shared.messages[:] = [m for m in shared.messages if m.get("id") != "long"]


@requirement("no-surrogates")
@pytest.mark.parametrize(
    "data",
    [
        rb'{"jsonrpc":"2.0","id":"s\ud800","method":"ping"}',
        rb'{"jsonrpc":"2.0","id":"s","method":"\udc00"}',
        rb'{"jsonrpc":"2.0","id":"s","method":"tools/call","params":{"name":"\ud83d"}}',
        rb'{"jsonrpc":"2.0","id":"s","method":"tools/call","params":{"name":"get_record","arguments":'
        rb'{"id":"\ud800"}}}',
        rb'{"jsonrpc":"2.0","id":"s","method":"resources/read","params":{"uri":"decision://\udfff"}}',
    ],
)
def test_a_lone_surrogate_comes_back_as_a_replacement_character(shared, data):
    before = len(shared.messages)
    shared.send_bytes(data + b"\n")
    shared.wait_until(lambda: len(shared.messages) > before)
    answer = shared.lines[-1].decode("utf-8")
    json.dumps(shared.messages[-1], ensure_ascii=False).encode("utf-8")  # no surrogate is in it
    assert "s\ufffd" in answer or '"id":"s"' in answer


@requirement("separators-escaped")
@pytest.mark.parametrize("odd", ["\u2028", "\u2029", "\x85", "\0", "\x1f", "\x7f"])
def test_line_separators_and_controls_come_back_escaped_on_one_line(shared, odd):
    message = said_once(shared, line(request(f"a{odd}b", request_id=f"x{odd}")))
    assert fault(message) == (UNKNOWN_METHOD, f"x{odd}")
    raw = [data for data in shared.lines if b'"x' in data][-1].decode("utf-8")
    assert len(raw.splitlines()) == 1


@requirement("duplicate-keys")
def test_duplicate_keys_get_one_answer(shared):
    data = b'{"jsonrpc":"2.0","id":1,"id":7,"method":"x","method":"ping"}\n'
    assert said_once(shared, data)["id"] == 7


# ── The legacy era ───────────────────────────────────────────────────────────


@requirement("initialize")
@pytest.mark.parametrize("version", ["2025-06-18", "2025-03-26"])
def test_a_known_version_is_echoed_with_exactly_two_capabilities(shared, version):
    result = said_once(shared, line(request("initialize", {"protocolVersion": version})))["result"]
    assert result["protocolVersion"] == version
    assert result["capabilities"] == {"tools": {}, "resources": {}}
    info = {"name": "inkan", "version": inkan_mcp.__version__, "title": "Halden Market decisions"}
    assert result["serverInfo"] == info
    assert "list_projects" in result["instructions"].split(". ")[1]
    assert "Trust only current records" in result["instructions"]


@requirement("initialize")
@pytest.mark.parametrize(
    "params",
    [
        *({"protocolVersion": v} for v in ("2024-11-05", "2025-11-25", "1.0", "", "zzz", MODERN)),
        *({"protocolVersion": v} for v in (None, 5, ["2025-06-18"], {})),
        {},
        None,
    ],
    ids=json.dumps,
)
def test_any_other_version_is_answered_with_the_newest_legacy_one(shared, params):
    message = said_once(shared, line(request("initialize", params)))
    assert message["result"]["protocolVersion"] == "2025-06-18"


@requirement("before-initialize")
def test_requests_before_and_without_initialize_are_answered():
    with Server("--root", SAMPLE) as server:
        assert server.request("ping") == {}
        assert [tool["name"] for tool in server.request("tools/list")["tools"]] == TOOL_NAMES
        assert server.call("list_tags")["tags"]
        assert server.initialize("2025-03-26")["protocolVersion"] == "2025-03-26"
        assert server.initialize()["protocolVersion"] == "2025-06-18"


@requirement("structured-content")
def test_structured_content_is_left_out_for_the_version_that_has_none():
    with Server("--root", SAMPLE) as server:
        server.initialize("2025-03-26")
        result = server.call_result("list_tags", {})
        assert set(result) == {"content"}
        check_type("2025-03-26", "CallToolResult", result)
        server.initialize("2025-06-18")
        result = server.call_result("list_tags", {})
        assert json.loads(result["content"][0]["text"]) == result["structuredContent"]


@requirement("unknown-method")
@pytest.mark.parametrize(
    "method",
    [
        *("foo", "", "prompts/list", "logging/setLevel", "resources/subscribe", "Ping"),
        *("completion/complete", "subscriptions/listen", "notifications/initialized"),
    ],
)
def test_an_unknown_method_is_named_in_its_error(shared, method):
    message = said_once(shared, line(request(method, {})))
    assert fault(message) == (UNKNOWN_METHOD, 1)
    assert json.dumps(method) in message["error"]["message"]


@requirement("unknown-tool")
@pytest.mark.parametrize("name", ["serch_records", "", None, 5, ["list_tags"], "Get_record"])
def test_an_unknown_tool_is_invalid_params(shared, name):
    with pytest.raises(RpcError) as caught:
        shared.request("tools/call", {"name": name})
    assert caught.value.code == PARAMS
    if name == "serch_records":
        assert "search_records" in caught.value.message


@requirement("unknown-tool")
def test_a_call_without_a_name_is_invalid_params(shared):
    with pytest.raises(RpcError, match="name"):
        shared.request("tools/call", {})


@requirement("bad-arguments")
@pytest.mark.parametrize(
    "arguments",
    [[1], "x", 5, {"limit": "5"}, {"limit": True}, {"limit": 0}, {"offset": -1}, {"x": 1}],
    ids=json.dumps,
)
def test_bad_arguments_are_a_tool_error_of_one_sentence_without_data(shared, arguments):
    params = {"name": "search_records", "arguments": arguments}
    result = shared.request("tools/call", params)
    assert result.keys() == {"content", "isError"}
    (content,) = result["content"]
    assert content["text"].count("\n") == 0


@requirement("bad-arguments")
@pytest.mark.parametrize("number", ["1e400", "-1e400", "1e300", "9" * 3000])
def test_numbers_beyond_all_measure_are_no_internal_fault(shared, number):
    shared.send_bytes(
        b'{"jsonrpc":"2.0","id":"n%s","method":"tools/call","params":{"name":"search_records",'
        b'"arguments":{"limit":%s}}}\n' % (number[:9].encode(), number.encode())
    )
    assert "result" in shared.answer(f"n{number[:9]}")


@requirement("progress")
@pytest.mark.parametrize("token", [0, "t", None, True, [1], {"a": 1}, 1.5])
def test_any_progress_token_is_let_pass(shared, token):
    params = {"name": "list_tags", "arguments": {}, "_meta": {"progressToken": token}}
    assert shared.request("tools/call", params)["content"]


@requirement("pagination")
@pytest.mark.parametrize("method", ["tools/list", "resources/list", "resources/templates/list"])
@pytest.mark.parametrize("cursor", ["x", 5, ["after:"], "after:\n"])
def test_a_cursor_that_was_never_given_is_invalid_params(shared, method, cursor):
    with pytest.raises(RpcError, match=r"-32602.*cursor"):
        shared.request(method, {"cursor": cursor})


@requirement("pagination")
@pytest.mark.parametrize("method", ["tools/list", "resources/list", "resources/templates/list"])
def test_an_empty_or_absent_cursor_gives_the_first_page(shared, method):
    first = shared.request(method)
    assert (
        shared.request(method, {"cursor": ""}) == shared.request(method, {"cursor": None}) == first
    )


# ── Batches ──────────────────────────────────────────────────────────────────


@requirement("batch-order")
def test_a_batch_is_one_line_of_answers_in_its_order(shared):
    batch = [
        request("tools/call", {"name": "search_records", "arguments": {"query": "kafka"}}, "slow"),
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        request("ping", request_id="one"),
        7,
        request("foo", request_id="two"),
        {"jsonrpc": "2.0", "id": 3, "result": {}},
        request("tools/list", request_id="three"),
    ]
    start = len(shared.messages)
    shared.send_bytes(line(batch))
    (answers,) = shared.wait_until(lambda: shared.messages[start:])
    assert [answer["id"] for answer in answers] == ["slow", "one", None, "two", "three"]
    codes = [answer.get("error", {}).get("code") for answer in answers]
    assert codes == [None, None, INVALID, UNKNOWN_METHOD, None]
    assert len(answers[4]["result"]["tools"]) == len(TOOL_NAMES)
    shared.messages.remove(answers)


@requirement("batch-silent")
def test_a_batch_of_notifications_and_responses_gets_no_answer(shared):
    cancel = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}}
    batch = [cancel, {"jsonrpc": "2.0", "method": "x"}, {"jsonrpc": "2.0", "id": 1, "result": {}}]
    assert said(shared, line(batch)) == []


@requirement("batch-initialize")
@pytest.mark.parametrize("method", ["initialize", "subscriptions/listen"])
def test_what_opens_something_lasting_is_refused_in_a_batch(shared, method):
    params = {} if method == "initialize" else modern_params(notifications={})
    start = len(shared.messages)
    shared.send_bytes(line([request(method, params), request("ping", request_id=2)]))
    (answers,) = shared.wait_until(lambda: shared.messages[start:])
    assert fault(answers[0]) == (INVALID, 1)
    assert answers[1]["result"] == {}
    shared.messages.remove(answers)


@requirement("batch-modern")
def test_each_element_of_a_batch_has_its_own_era(shared):
    batch = [request("tools/list", {}, "a"), request("tools/list", modern_params(), "b")]
    start = len(shared.messages)
    shared.send_bytes(line(batch))
    (answers,) = shared.wait_until(lambda: shared.messages[start:])
    assert ["resultType" in answer["result"] for answer in answers] == [False, True]
    shared.messages.remove(answers)


# ── The modern era ───────────────────────────────────────────────────────────


@requirement("discover")
def test_discover_names_the_modern_version_and_what_it_can_do(shared):
    result = shared.modern("server/discover")
    assert result["supportedVersions"] == [MODERN]
    assert result["capabilities"]["tools"] == {}
    assert result["capabilities"]["completions"] == {}
    assert result["capabilities"]["resources"] == {"listChanged": True, "subscribe": True}
    assert result["_meta"][f"{PREFIX}serverInfo"]["name"] == "inkan"
    assert "serverInfo" not in result


@requirement("modern-envelope")
@pytest.mark.parametrize(
    ("method", "params", "cacheable"),
    [
        ("server/discover", {}, True),
        ("tools/list", {}, True),
        ("tools/call", {"name": "list_tags", "arguments": {}}, False),
        ("tools/call", {"name": "get_record", "arguments": {"id": "nothing"}}, False),
        ("resources/list", {}, True),
        ("resources/templates/list", {}, True),
        ("resources/read", {"uri": "decision://payments/adr/0001-double-entry-ledger"}, True),
        ("completion/complete", {"ref": {"type": "ref/resource", "uri": "decision://{id}"},
                                 "argument": {"name": "id", "value": "p"}}, False),
    ],
)  # fmt: skip
def test_a_modern_result_is_complete_and_says_how_long_it_may_be_kept(
    shared, method, params, cacheable
):
    result = shared.modern(method, **params)
    assert result["resultType"] == "complete"
    assert result["_meta"][f"{PREFIX}serverInfo"]["version"] == inkan_mcp.__version__
    assert ("ttlMs" in result, "cacheScope" in result) == (cacheable, cacheable)
    if cacheable:
        assert (type(result["ttlMs"]), result["cacheScope"]) == (int, "private")
    if method in ("resources/list", "resources/read"):
        assert result["ttlMs"] == 0


@requirement("modern-first")
def test_the_first_line_may_be_any_modern_request():
    with Server("--root", SAMPLE) as server:
        assert server.modern("tools/list")["resultType"] == "complete"


def without(*names):
    params = modern_params()
    meta = {key: value for key, value in params["_meta"].items() if key[len(PREFIX) :] not in names}
    return {**params, "_meta": meta}


@requirement("modern-meta")
@pytest.mark.parametrize("method", ["tools/list", "server/discover", "ping", "initialize", "foo"])
@pytest.mark.parametrize("missing", ["protocolVersion", "clientCapabilities"])
def test_a_modern_request_that_lacks_a_member_of_meta_is_invalid_params(shared, method, missing):
    message = said_once(shared, line(request(method, without(missing))))
    assert fault(message) == (PARAMS, 1)
    assert missing in message["error"]["message"]


@requirement("modern-meta")
@pytest.mark.parametrize("params", [None, {}, {"_meta": None}, {"_meta": 5}])
def test_discover_without_meta_is_invalid_params(shared, params):
    assert fault(said_once(shared, line(request("server/discover", params)))) == (PARAMS, 1)


@requirement("modern-meta")
@pytest.mark.parametrize(
    "odd", [{"protocolVersion": 5}, {"protocolVersion": None}, {"clientCapabilities": []}]
)
def test_members_of_meta_of_another_type_are_invalid_params(shared, odd):
    params = modern_params(_meta={PREFIX + key: value for key, value in odd.items()})
    assert fault(said_once(shared, line(request("tools/list", params)))) == (PARAMS, 1)


@requirement("modern-meta")
def test_the_client_need_not_say_its_name(shared):
    assert "result" in said_once(shared, line(request("tools/list", without("clientInfo"))))


@requirement("modern-version")
@pytest.mark.parametrize("version", ["2027-03-01", "2025-06-18", "2025-11-25", "", "zzz"])
def test_another_version_is_refused_with_those_supported(shared, version):
    params = modern_params(_meta={f"{PREFIX}protocolVersion": version})
    message = said_once(shared, line(request("tools/list", params)))
    assert fault(message) == (-32022, 1)
    assert message["error"]["data"] == {"supported": [MODERN], "requested": version}
    check_type(MODERN, "UnsupportedProtocolVersionError", message)


@requirement("modern-removed")
@pytest.mark.parametrize(
    "method",
    [
        *("ping", "initialize", "logging/setLevel", "resources/subscribe", "prompts/list"),
        *("resources/unsubscribe", "foo"),
    ],
)
def test_a_method_that_the_modern_era_removed_is_unknown(shared, method):
    message = said_once(shared, line(request(method, modern_params())))
    assert fault(message) == (UNKNOWN_METHOD, 1)


@requirement("modern-unknown-resource")
def test_an_unknown_resource_is_invalid_params_in_the_modern_era(shared):
    with pytest.raises(RpcError) as caught:
        shared.modern("resources/read", uri="decision://D-9")
    assert (caught.value.code, caught.value.message) == (PARAMS, "Resource not found")
    assert caught.value.data == {"uri": "decision://D-9"}


@requirement("eras-alternate")
def test_both_eras_alternate_in_one_process(shared):
    for _ in range(2):
        assert "resultType" in shared.modern("server/discover")
        assert shared.initialize()["capabilities"] == {"tools": {}, "resources": {}}
        assert "resultType" not in shared.request("tools/list")
        assert "resultType" in shared.modern("tools/call", name="list_tags")
        with pytest.raises(RpcError, match="-32002"):
            shared.request("resources/read", {"uri": "decision://D-9"})


@requirement("modern-structured")
def test_the_modern_era_has_structured_content_whatever_was_negotiated():
    with Server("--root", SAMPLE) as server:
        server.initialize("2025-03-26")
        assert "structuredContent" in server.modern("tools/call", name="list_tags")


# ── Completion ───────────────────────────────────────────────────────────────


def complete(server, value, uri="decision://{id}", name="id"):
    ref = {"type": "ref/resource", "uri": uri}
    params = {"ref": ref, "argument": {"name": name, "value": value}}
    return server.modern("completion/complete", **params)["completion"]


@requirement("completion")
def test_ids_that_begin_with_the_text_come_before_those_that_hold_it(shared):
    found = complete(shared, "P")["values"]
    begin = [value for value in found if value.startswith("p")]
    assert found[: len(begin)] == begin == sorted(begin)
    assert found[len(begin) :]
    assert complete(shared, "KAFKA")["values"] == [
        "payments/adr/0007-kafka-as-the-payment-event-log",
        "platform/adr/0003-run-kafka-ourselves",
        "platform/adr/0005-managed-kafka",
    ]


@requirement("completion")
def test_at_most_100_ids_are_offered_and_the_total_is_said(tmp_path):
    files = {f"content/p/adr/{n:04}-x.md": f"---\ntitle: D{n}\n---\n" for n in range(1, 104)}
    root = write_records(tmp_path, {"inkan.config.json": "{}", **files})
    with Server("--root", root) as server:
        found = complete(server, "")
        assert (len(found["values"]), found["total"], found["hasMore"]) == (100, 103, True)
        assert complete(server, "0007") == {
            "values": ["p/adr/0007-x"], "total": 1, "hasMore": False,
        }  # fmt: skip


@requirement("completion")
@pytest.mark.parametrize(
    "params",
    [
        {},
        {"ref": {"type": "ref/prompt", "name": "x"}, "argument": {"name": "id", "value": ""}},
        {"ref": {"type": "ref/resource", "uri": "decision://{id}"}, "argument": {"name": "x"}},
        {"ref": {"type": "ref/resource", "uri": "decision://{id}"}, "argument": {"name": "id"}},
        {"ref": 5, "argument": []},
    ],
    ids=json.dumps,
)
def test_what_cannot_be_completed_is_invalid_params(shared, params):
    with pytest.raises(RpcError, match="-32602"):
        shared.modern("completion/complete", **params)


# ── Tools ────────────────────────────────────────────────────────────────────


@requirement("tools-list")
def test_all_tools_come_in_their_order_with_all_that_clients_show(shared):
    tools = shared.request("tools/list")["tools"]
    assert [tool["name"] for tool in tools] == TOOL_NAMES
    for tool in tools:
        assert tool["title"]
        assert tool["annotations"] == {
            "readOnlyHint": True, "destructiveHint": False,
            "idempotentHint": True, "openWorldHint": False,
        }  # fmt: skip
        assert len(tool["description"]) <= 700


def keywords(schema):
    """Yield every keyword of a schema, those of its properties too."""
    for key, value in schema.items():
        yield key
        if key == "properties":
            for inner in value.values():
                yield from keywords(inner)
        elif key == "items":
            yield from keywords(value)


@requirement("schema-keywords")
def test_schemas_use_only_keywords_that_every_client_takes(shared):
    plain = {"type", "properties", "required", "enum", "minimum", "maximum", "default"}
    plain |= {"description", "additionalProperties"}
    for tool in shared.request("tools/list")["tools"]:
        assert set(keywords(tool["inputSchema"])) <= plain
        assert set(keywords(tool["outputSchema"])) <= plain | {"items"}
        assert tool["inputSchema"]["type"] == tool["outputSchema"]["type"] == "object"
        assert tool["inputSchema"]["additionalProperties"] is False
        for argument in tool["inputSchema"]["properties"].values():
            assert isinstance(argument["type"], str)


@requirement("sizes")
def test_the_tools_take_little_of_a_models_context(shared):
    shared.request("tools/list")
    listed = next(data for data in reversed(shared.lines) if b'"tools":[' in data)
    tools = json.loads(listed)["result"]["tools"]
    assert len(listed) < TOOL_BYTES * len(tools)
    names = ("name", "title", "description", "inputSchema")
    spoken = [{key: tool[key] for key in names} for tool in tools]
    assert len(json.dumps(spoken, separators=(",", ":"), ensure_ascii=False).encode()) < 5_000
    assert len(inkan_mcp.INSTRUCTIONS.encode()) < 1_800


CALLS = [
    ("list_projects", {}),
    ("search_records", {}),
    ("search_records", {"query": "kafka", "current_only": True}),
    ("search_records", {"query": "kafka payment zzz"}),
    ("search_records", {"status": "acepted"}),
    ("search_records", {"limit": 500, "offset": 3}),
    ("get_record", {"id": "payments/adr/1"}),
    ("get_record", {"id": "platform/adr/0003-run-kafka-ourselves"}),
    ("list_tags", {}),
    ("list_tags", {"project": "nowhere"}),
    ("list_fields", {}),
    ("list_authors", {}),
    ("due_reviews", {"all": True}),
    ("rfc_reviews", {}),
]


@requirement("output-schema")
@pytest.mark.parametrize(("tool", "arguments"), CALLS)
def test_every_result_is_what_its_output_schema_says(shared, tool, arguments):
    assert shared.call(tool, **arguments)


@requirement("output-schema")
def test_every_record_is_what_the_output_schema_says(shared):
    for record in shared.call("search_records", limit=200)["records"]:
        assert shared.call("get_record", id=record["id"])["title"] == record["title"]


@requirement("no-null", "official-schema")
@pytest.mark.skipif(official_schema(MODERN) is None, reason="INKAN_CASES names no mcp-schemas")
def test_the_official_schemas_find_what_is_wrong():
    with pytest.raises(Exception, match="is a required property"):
        check_type(MODERN, "ListToolsResult", {"tools": []})
    with pytest.raises(Exception, match="None"):
        check_type("2025-06-18", "ListResourcesResult", {"resources": [], "nextCursor": None})


# ── Sessions as data ─────────────────────────────────────────────────────────


@requirement("sessions")
@pytest.mark.parametrize("path", sorted((DATA / "sessions").glob("*.jsonl")), ids=lambda p: p.stem)
def test_a_recorded_session_is_answered_to_the_byte(path):
    text = path.read_text(encoding="utf-8").replace("${version}", inkan_mcp.__version__)
    text = text.replace("${instructions}", json.dumps(inkan_mcp.INSTRUCTIONS)[1:-1])
    text = text.replace("${tools}", ", ".join(TOOL_NAMES))
    with Server("--root", SAMPLE) as server:
        received = 0
        for said_line in text.splitlines():
            kind, _, content = said_line.partition(" ")
            if kind == ">":
                server.send_bytes(content.encode("utf-8") + b"\n")
            elif kind == "<":
                received += 1
                server.wait_until(lambda: len(server.lines) >= received)  # noqa: B023
                assert server.lines[received - 1].decode("utf-8") == content + "\n"
    assert len(server.lines) == received
