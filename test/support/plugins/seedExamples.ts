// The JSON examples of the seed `rfd-d18-plugin-subscriptions-and-query-delegation.md`, verbatim and in the same order.

export const seedExamples = {
  subscribe: `{
  "type": "subscribe",
  "sub_id": "chat-main",
  "conversation": "17127583920",
  "events": [
    "chat_response",
    "tool_call_request",
    "tool_call_response"
  ]
}`,
  subscribed: `{
  "type": "subscribed",
  "sub_id": "chat-main"
}`,
  chatResponse: `{
  "type": "event",
  "sub_id": "chat-main",
  "data": {
    "timestamp": "...",
    "type": "chat_response",
    "message": "Here's what I found..."
  }
}`,
  unsubscribe: `{
  "type": "unsubscribe",
  "sub_id": "chat-main"
}`,
  unsubscribed: `{
  "type": "unsubscribed",
  "sub_id": "chat-main"
}`,
  toolApproval: `{
  "type": "event",
  "sub_id": "chat-main",
  "respond": "tool_approval",
  "data": {
    "type": "tool_call_request",
    "id": "tc_1",
    "name": "cargo_check",
    "arguments": {}
  }
}`,
  approve: `{
  "type": "respond",
  "sub_id": "chat-main",
  "respond": "tool_approval",
  "tool_call_id": "tc_1",
  "action": "approve"
}`,
  inquiry: `{
  "type": "event",
  "sub_id": "chat-main",
  "respond": "inquiry",
  "data": {
    "type": "inquiry_request",
    "id": "inq_1",
    "question": "Which file?",
    "options": [
      "a.rs",
      "b.rs"
    ]
  }
}`,
  answer: `{
  "type": "respond",
  "sub_id": "chat-main",
  "respond": "inquiry",
  "inquiry_id": "inq_1",
  "answer": "a.rs"
}`,
  query: `{
  "type": "query",
  "conversation": "17127583920",
  "content": "What files changed?"
}`,
  structuredQuery: `{
  "type": "query",
  "conversation": "17127583920",
  "content": "Summarize this file",
  "attachments": [
    {
      "type": "file_content",
      "path": "src/main.rs",
      "content": "fn main() {}"
    }
  ],
  "schema": {
    "type": "object",
    "properties": {
      "summary": {
        "type": "string"
      }
    },
    "required": [
      "summary"
    ]
  }
}`,
  queryStarted: `{
  "type": "query_started",
  "conversation": "17127583920"
}`,
  queryComplete: `{
  "type": "event",
  "sub_id": "chat-main",
  "data": {
    "type": "query_complete"
  }
}`,
} as const;
