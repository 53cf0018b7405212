/** What an engine says about how a question should be put. It is kept with the question, and shown. */

export interface AskHints {
  /** "No" stands out, and nothing is allowed by a stray key. */
  defaultToNo?: boolean;
  /** No rule may be made of the question: it would grant more than what is asked. */
  suppressAlways?: boolean;
  /** The path that made the engine ask. */
  blockedPath?: string;
  /** The engine's own reason to ask. */
  reason?: string;
  /** The engine's words for the call. */
  title?: string;
  description?: string;
  /** Whose tool it is, and where that server was configured. */
  mcpServer?: { name: string; source?: string };
}

/** A rule that the engine thought of, in the gateway's form. It has not been judged. */
export interface EngineRule {
  rule: string;
  /** Where the engine would have kept it. */
  scope: 'session' | 'project' | 'everywhere';
}

/** Rows are JSON; what is missing or of another kind reads as nothing. */
export function readHints(value: unknown): AskHints {
  const text = (name: string): string | undefined => {
    const found = field(value, name);
    return typeof found === 'string' && found !== '' ? found : undefined;
  };
  const blockedPath = text('blockedPath');
  const reason = text('reason');
  const title = text('title');
  const description = text('description');
  const server = field(value, 'mcpServer');
  const name = field(server, 'name');
  const source = field(server, 'source');
  return {
    ...(field(value, 'defaultToNo') === true ? { defaultToNo: true } : {}),
    ...(field(value, 'suppressAlways') === true ? { suppressAlways: true } : {}),
    ...(blockedPath === undefined ? {} : { blockedPath }),
    ...(reason === undefined ? {} : { reason }),
    ...(title === undefined ? {} : { title }),
    ...(description === undefined ? {} : { description }),
    ...(typeof name === 'string'
      ? { mcpServer: { name, ...(typeof source === 'string' ? { source } : {}) } }
      : {}),
  };
}

function field(value: unknown, key: string): unknown {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, key)
    ? Reflect.get(value, key)
    : undefined;
}
