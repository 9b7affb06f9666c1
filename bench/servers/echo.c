/*
 * An MCP server (2025-11-25, stdio) that costs next to nothing, so that what is measured is the relay before it.
 *
 * Tools: echo {message}, sink {message} (gives its length), blob {bytes} (gives that much text), flood {count} (so many
 * numbered log notifications, then the result), pid, die (exit code 3). With --stubborn it ignores SIGTERM and the end of
 * its input. It trusts its input to be JSON-RPC as bench writes it.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct {
  const char *at, *end;
} Text;

/* ---- output: kept until all that was read has been answered, then written at once */

static char *out;
static size_t out_size, out_room;

static void flush(void) {
  for (size_t done = 0; done < out_size;) {
    ssize_t count = write(1, out + done, out_size - done);
    if (count >= 0) done += (size_t)count;
    else if (errno != EINTR) _exit(0);
  }
  out_size = 0;
}

static void put(const char *bytes, size_t size) {
  if (out_size + size > out_room) {
    out_room = (out_size + size) * 2;
    out = realloc(out, out_room);
    if (out == NULL) _exit(9);
  }
  memcpy(out + out_size, bytes, size);
  out_size += size;
}

static void say(const char *text) { put(text, strlen(text)); }
static void copy(Text text) { put(text.at, (size_t)(text.end - text.at)); }

static void say_number(long number) {
  char digits[24];
  put(digits, (size_t)snprintf(digits, sizeof digits, "%ld", number));
}

/* ---- input: a value is found by skipping those before it */

static const char *blanks(const char *at, const char *end) {
  while (at < end && (*at == ' ' || *at == '\t' || *at == '\r')) at++;
  return at;
}

/* Behind the string that begins at `at`; a quote counts when an even number of backslashes is before it. */
static const char *behind_string(const char *at, const char *end) {
  for (const char *quote = at + 1; (quote = memchr(quote, '"', (size_t)(end - quote))) != NULL; quote++) {
    const char *slash = quote;
    while (slash[-1] == '\\') slash--;
    if ((quote - slash) % 2 == 0) return quote + 1;
  }
  return end;
}

static const char *behind_value(const char *at, const char *end) {
  int depth = 0;
  while (at < end) {
    if (*at == '"') {
      at = behind_string(at, end);
      if (depth == 0) return at;
      continue;
    }
    if (*at == '{' || *at == '[') depth++;
    else if (*at == '}' || *at == ']') {
      if (depth == 0) return at;
      if (--depth == 0) return at + 1;
    } else if (*at == ',' && depth == 0) return at;
    at++;
  }
  return end;
}

static int member(Text object, const char *name, Text *value) {
  size_t length = strlen(name);
  const char *end = object.end, *at = blanks(object.at, end);
  if (at >= end || *at != '{') return 0;
  at = blanks(at + 1, end);
  while (at < end && *at == '"') {
    const char *key = at + 1;
    at = behind_string(at, end);
    int found = (size_t)(at - 1 - key) == length && memcmp(key, name, length) == 0;
    at = blanks(at, end);
    if (at >= end || *at != ':') return 0;
    value->at = at = blanks(at + 1, end);
    value->end = at = behind_value(at, end);
    if (found) return 1;
    at = blanks(at, end);
    if (at < end && *at == ',') at = blanks(at + 1, end);
  }
  return 0;
}

static int is(Text value, const char *text) {
  size_t length = strlen(text);
  return (size_t)(value.end - value.at) == length + 2 && memcmp(value.at + 1, text, length) == 0;
}

/* ---- the server */

#define TOOL(name, properties, required) \
  "{\"name\":\"" name "\",\"description\":\"The " name " of the bench\",\"inputSchema\":{\"type\":\"object\"," \
  "\"properties\":{" properties "},\"required\":[" required "]}}"
#define MESSAGE "\"message\":{\"type\":\"string\"}"
#define NUMBER(name) "\"" name "\":{\"type\":\"integer\"}"

static const char tools[] = "{\"tools\":[" TOOL("echo", MESSAGE, "\"message\"") "," TOOL("sink", MESSAGE, "\"message\"") ","
  TOOL("blob", NUMBER("bytes"), "\"bytes\"") "," TOOL("flood", NUMBER("count"), "\"count\"") ","
  TOOL("pid", "", "") "," TOOL("die", "", "");
static long more = 0;

/* The listing: what there is to call, and as many others as --tools asks for. */
static void list(void) {
  say(tools);
  for (long at = 0; at < more; at++) {
    say(",{\"name\":\"tool_");
    say_number(at);
    say("\",\"description\":\"One of many tools of the bench\",\"inputSchema\":{\"type\":\"object\",\"properties\":{" MESSAGE "}}}");
    if (out_size > 60000) flush();
  }
  say("]}");
}

static const char initialized[] = "{\"protocolVersion\":\"2025-11-25\",\"capabilities\":{\"tools\":{},\"logging\":{}},"
  "\"serverInfo\":{\"name\":\"bench-echo\",\"version\":\"1\"}}";

static const char sentence[] = "The quick brown fox jumps over the lazy dog 0123456789 (abcdefghijklmnopq) xy.\\n";

static void begin(Text id, const char *what) {
  say("{\"jsonrpc\":\"2.0\",\"id\":");
  copy(id);
  say(what);
}

static long number_of(Text arguments, const char *name) {
  Text value;
  return member(arguments, name, &value) ? strtol(value.at, NULL, 10) : 0;
}

static void flood(long count) {
  for (long seq = 0; seq < count; seq++) {
    say("{\"jsonrpc\":\"2.0\",\"method\":\"notifications/message\",\"params\":{\"level\":\"info\",\"logger\":\"bench\",\"data\":{\"seq\":");
    say_number(seq);
    say(",\"note\":\"a small log line of a chatty server\"}}}\n");
    if (out_size > 60000) flush();
  }
}

static void call(Text id, Text params) {
  Text name = {"", ""}, arguments = {"{}", "{}" + 2}, message = {"\"\"", "\"\"" + 2};
  member(params, "name", &name);
  member(params, "arguments", &arguments);
  member(arguments, "message", &message);
  if (is(name, "die")) {
    flush();
    _exit(3);
  }
  if (is(name, "flood")) flood(number_of(arguments, "count"));
  begin(id, ",\"result\":{\"content\":[{\"type\":\"text\",\"text\":");
  if (is(name, "echo")) copy(message);
  else {
    say("\"");
    if (is(name, "sink")) say_number((long)(message.end - message.at));
    else if (is(name, "pid")) say_number((long)getpid());
    else if (is(name, "blob")) {
      long left = number_of(arguments, "bytes");
      for (; left >= (long)sizeof sentence - 1; left -= (long)sizeof sentence - 1) put(sentence, sizeof sentence - 1);
      while (left-- > 0) say("x");
    }
    say("\"");
  }
  say("}]}}\n");
}

static void answer(Text line) {
  Text id, method, params = {"{}", "{}" + 2};
  if (!member(line, "id", &id) || !member(line, "method", &method)) return;
  member(line, "params", &params);
  if (is(method, "tools/call")) {
    call(id, params);
    return;
  }
  if (is(method, "initialize") || is(method, "tools/list") || is(method, "ping")) {
    begin(id, ",\"result\":");
    if (is(method, "tools/list")) list();
    else say(is(method, "initialize") ? initialized : "{}");
    say("}\n");
    return;
  }
  begin(id, ",\"error\":{\"code\":-32601,\"message\":\"Method not found\"}}\n");
}

int main(int argc, char **argv) {
  int stubborn = argc > 1 && strcmp(argv[1], "--stubborn") == 0;
  if (argc > 2 && strcmp(argv[1], "--tools") == 0) more = strtol(argv[2], NULL, 10) - 6;
  if (stubborn) {
    signal(SIGTERM, SIG_IGN);
    signal(SIGINT, SIG_IGN);
    signal(SIGPIPE, SIG_IGN);
  }
  size_t room = 1 << 17, size = 0, seen = 0;
  char *in = malloc(room);
  for (;;) {
    if (size == room) in = realloc(in, room *= 2);
    if (in == NULL) return 9;
    ssize_t count = read(0, in + size, room - size);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) break;
    size += (size_t)count;
    size_t from = 0;
    for (char *end; (end = memchr(in + seen, '\n', size - seen)) != NULL; from = seen = (size_t)(end - in) + 1) {
      answer((Text){in + from, end});
    }
    memmove(in, in + from, size - from);
    seen = size -= from;
    flush();
  }
  while (stubborn) pause();
  return 0;
}
