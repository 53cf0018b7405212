/** An Anthropic conversation as OpenAI Chat Completions: what a client of that dialect sends. */

export function toChatTools(offered) {
  return offered.map((tool) => ({
    type: 'function',
    function: { name: tool.name, description: tool.description, parameters: tool.input_schema },
  }));
}

export function toChatMessages(system, messages) {
  const found = [{ role: 'system', content: system.map((block) => block.text).join('\n\n') }];
  for (const { role, content } of messages) {
    if (typeof content === 'string') found.push({ role, content });
    else if (role === 'assistant') found.push(toChatCall(content));
    else found.push(...content.map(toChatResult));
  }
  return found;
}

function toChatCall([text, call]) {
  const called = { name: call.name, arguments: JSON.stringify(call.input) };
  return {
    role: 'assistant',
    content: text.text,
    tool_calls: [{ id: call.id, type: 'function', function: called }],
  };
}

function toChatResult(block) {
  return block.type === 'tool_result'
    ? { role: 'tool', tool_call_id: block.tool_use_id, content: block.content }
    : { role: 'user', content: block.text };
}
