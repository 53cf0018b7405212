/**
 * Tools that a provider defines by a type alone and the client runs. Models of that provider know
 * them; to every other one they are functions, and this table is what those functions say.
 */
import type {
  DialectName,
  JsonObject,
  ProviderToolDefinition,
  ToolDefinition,
  TypedTool,
} from '../../core/conversation.js';
import { isObject } from '../../core/is-object.js';

interface TypedToolFunction {
  /** As calls of it name it, where the wire fixes the name. */
  name: string;
  description: string;
  inputSchema: JsonObject;
  /** Fields of the definition that the description has to state, with the words for each. */
  notes?: Readonly<Record<string, (value: unknown) => string>>;
}

const text = (description: string): JsonObject => ({ type: 'string', description });
const whole = (description: string): JsonObject => ({ type: 'integer', description });
const oneOf = (description: string, values: readonly string[]): JsonObject => ({
  type: 'string',
  enum: values,
  description,
});
const list = (items: JsonObject, description: string): JsonObject => ({ type: 'array', items, description });
const object = (properties: JsonObject, required: readonly string[]): JsonObject => ({
  type: 'object',
  properties,
  required,
});

const BASH: TypedToolFunction = {
  name: 'bash',
  description:
    'Runs a command in a bash shell and returns its output. The shell stays open between calls: folder, variables and background jobs are kept.',
  inputSchema: object(
    {
      command: text('The bash command to run. Required unless the shell is restarted.'),
      restart: { type: 'boolean', description: 'True restarts the shell. Leave it out otherwise.' },
    },
    [],
  ),
};

interface EditorVersion {
  name: string;
  undo: boolean;
  /** The property that `insert` takes its text from: models were trained on another one later. */
  inserted: 'new_str' | 'insert_text';
}

function editor({ name, undo, inserted }: EditorVersion): TypedToolFunction {
  const commands = ['view', 'create', 'str_replace', 'insert', ...(undo ? ['undo_edit'] : [])];
  const replacement = 'The text that replaces `old_str`. Left out, `old_str` is deleted.';
  return {
    name,
    description:
      'Views, creates and edits text files. `view` shows a file with line numbers, or lists a folder; `create` writes a new file; `str_replace` replaces text that occurs exactly once; `insert` puts text behind a line.' +
      (undo ? ' `undo_edit` takes back the last edit of a file.' : ''),
    inputSchema: object(
      {
        command: oneOf('What to do.', commands),
        path: text('Absolute path of the file or folder.'),
        view_range: list(
          { type: 'integer' },
          'For `view` of a file: first and last line, from 1. A last line of -1 is the end of the file.',
        ),
        file_text: text('Required for `create`: the whole content of the file.'),
        old_str: text('Required for `str_replace`: the text to replace, with its exact white space.'),
        new_str: text(
          inserted === 'new_str'
            ? `For \`str_replace\`: ${replacement} Required for \`insert\`: the text to insert.`
            : `For \`str_replace\`: ${replacement}`,
        ),
        insert_line: whole('Required for `insert`: the line behind which the text goes; 0 is the beginning.'),
        ...(inserted === 'new_str'
          ? {}
          : { insert_text: text('Required for `insert`: the text to insert.') }),
      },
      ['command', 'path'],
    ),
    notes: { max_characters: (value) => `A view shows at most ${String(value)} characters.` },
  };
}

const MEMORY: TypedToolFunction = {
  name: 'memory',
  description:
    'Keeps notes in files under /memories that outlive the conversation. Look at /memories before starting a task, and write down what will be needed later: the conversation may be cut at any moment.',
  inputSchema: object(
    {
      command: oneOf('What to do.', ['view', 'create', 'str_replace', 'insert', 'delete', 'rename']),
      path: text('Path of the file or folder, under /memories. Required for all commands but `rename`.'),
      view_range: list({ type: 'integer' }, 'For `view` of a file: first and last line.'),
      file_text: text('Required for `create`: the content of the file.'),
      old_str: text('Required for `str_replace`: the text to replace.'),
      new_str: text('Required for `str_replace`: the text that replaces it.'),
      insert_line: whole('Required for `insert`: the line behind which the text goes; 0 is the beginning.'),
      insert_text: text('Required for `insert`: the text to insert.'),
      old_path: text('Required for `rename`: the present path.'),
      new_path: text('Required for `rename`: the new path.'),
    },
    ['command'],
  ),
};

const FIRST_ACTIONS = [
  'key',
  'type',
  'mouse_move',
  'left_click',
  'left_click_drag',
  'right_click',
  'middle_click',
  'double_click',
  'screenshot',
  'cursor_position',
];
const LATER_ACTIONS = ['left_mouse_down', 'left_mouse_up', 'scroll', 'hold_key', 'wait', 'triple_click'];

function computer(version: 1 | 2 | 3): TypedToolFunction {
  const point = (description: string): JsonObject => list({ type: 'integer' }, description);
  return {
    name: 'computer',
    description:
      'Uses the mouse, the keyboard and the screen of a computer. Take a screenshot to see what an action did; coordinates are pixels from the upper left corner of the screen.',
    inputSchema: object(
      {
        action: oneOf('What to do.', [
          ...FIRST_ACTIONS,
          ...(version > 1 ? LATER_ACTIONS : []),
          ...(version > 2 ? ['zoom'] : []),
        ]),
        coordinate: point('[x, y]: where to click, move, scroll or drag to.'),
        text: text(
          'Required for `type`, `key` and `hold_key`: the text, or the keys as in `ctrl+s`. For clicks and scrolling: keys to hold meanwhile.',
        ),
        ...(version > 1
          ? {
              start_coordinate: point('[x, y]: where `left_click_drag` begins.'),
              duration: { type: 'number', description: 'Required for `hold_key` and `wait`: seconds.' },
              scroll_direction: oneOf('Required for `scroll`.', ['up', 'down', 'left', 'right']),
              scroll_amount: whole('Required for `scroll`: clicks of the wheel.'),
            }
          : {}),
        ...(version > 2
          ? { region: point('[x0, y0, x1, y1]: required for `zoom`, the part of the screen to look at.') }
          : {}),
      },
      ['action'],
    ),
    notes: {
      display_width_px: (value) => `The screen is ${String(value)} pixels wide.`,
      display_height_px: (value) => `The screen is ${String(value)} pixels high.`,
      display_number: (value) => `It is display ${String(value)}.`,
      enable_zoom: () => '',
    },
  };
}

const SHELL: TypedToolFunction = {
  name: 'shell',
  description:
    "Runs commands in a shell on the user's computer. The commands of one call may run at the same time; each gives its own output and exit code.",
  inputSchema: object(
    {
      commands: list({ type: 'string' }, 'The commands to run.'),
      timeout_ms: whole('Longest time for the commands, in milliseconds.'),
      max_output_length: whole('Most characters of output for each command.'),
    },
    ['commands'],
  ),
  notes: { environment: (value) => (isObject(value) ? skillsText(value['skills']) : '') },
};

/** Skills are folders with instructions; the model reads them with the tool itself. */
function skillsText(skills: unknown): string {
  const known = Array.isArray(skills) ? skills.filter(isObject) : [];
  const lines = known.map(
    ({ name, description, path }) => `${String(name)} (${String(path)}): ${String(description)}`,
  );
  return lines.length === 0 ? '' : `Skills, each a folder with a SKILL.md to read first: ${lines.join('; ')}`;
}

const LOCAL_SHELL: TypedToolFunction = {
  name: 'local_shell',
  description: "Runs a command on the user's computer.",
  inputSchema: object(
    {
      command: list({ type: 'string' }, 'The program and its arguments, as in ["bash", "-lc", "ls"].'),
      env: {
        type: 'object',
        additionalProperties: { type: 'string' },
        description: 'Environment variables to set.',
      },
      working_directory: text('The folder to run it in.'),
      timeout_ms: whole('Longest time for the command, in milliseconds.'),
      user: text('The user to run it as.'),
    },
    ['command'],
  ),
};

const APPLY_PATCH: TypedToolFunction = {
  name: 'apply_patch',
  description:
    'Creates, updates or deletes one file. The diff of `create_file` is the whole file with `+` before every line. The diff of `update_file` is one section or more: a line `@@` (or `@@` and a line of the file, to say where) and then lines that begin with a space (unchanged), `-` (removed) or `+` (added); three unchanged lines around a change are enough. There are no line numbers and no file names in a diff.',
  inputSchema: object(
    {
      type: oneOf('What to do.', ['create_file', 'update_file', 'delete_file']),
      path: text('Path of the file.'),
      diff: text('The diff. Required for `create_file` and `update_file`.'),
    },
    ['type', 'path'],
  ),
};

const OLD_EDITOR = editor({ name: 'str_replace_editor', undo: true, inserted: 'new_str' });
const NEW_EDITOR = editor({ name: 'str_replace_based_edit_tool', undo: false, inserted: 'insert_text' });

type TypedTools = Readonly<Record<string, TypedToolFunction>>;

/** By the wire's type. */
export const TYPED_TOOLS: Readonly<Partial<Record<DialectName, TypedTools>>> = {
  'anthropic-messages': {
    bash_20241022: BASH,
    bash_20250124: BASH,
    text_editor_20241022: OLD_EDITOR,
    text_editor_20250124: OLD_EDITOR,
    text_editor_20250429: NEW_EDITOR,
    text_editor_20250728: NEW_EDITOR,
    memory_20250818: MEMORY,
    computer_20241022: computer(1),
    computer_20250124: computer(2),
    computer_20251124: computer(3),
  },
  'openai-responses': { shell: SHELL, local_shell: LOCAL_SHELL, apply_patch: APPLY_PATCH },
};

/** Tools that offer less unless a field of their definition is true. */
const LESS_UNLESS: Readonly<Record<string, { field: string; kind: string }>> = {
  computer_20251124: { field: 'enable_zoom', kind: 'computer_20250124' },
};

/** A definition by its type as a tool of the client's; undefined for one that the provider runs. */
export function typedTool(
  dialect: DialectName,
  definition: JsonObject,
): (ToolDefinition & { typed: TypedTool }) | undefined {
  const { type: kind, name } = definition;
  const tools = TYPED_TOOLS[dialect];
  if (tools === undefined || typeof kind !== 'string' || !Object.hasOwn(tools, kind)) return undefined;
  const less = LESS_UNLESS[kind];
  const shown = less === undefined || definition[less.field] === true ? kind : less.kind;
  const made = tools[shown];
  if (made === undefined || (kind === 'shell' && !isLocal(definition['environment']))) return undefined;
  const value: JsonObject = {};
  for (const field of ['type', 'name', ...Object.keys(tools[kind]?.notes ?? {})]) {
    if (definition[field] !== undefined) value[field] = definition[field];
  }
  return {
    name: typeof name === 'string' && name !== '' ? name : made.name,
    description: describe(made, definition),
    inputSchema: made.inputSchema,
    typed: { dialect, kind, value },
  };
}

/** A shell in a container of the provider's is the provider's to run. */
function isLocal(environment: unknown): boolean {
  return !isObject(environment) || environment['type'] === 'local';
}

/** With what the definition itself says. */
function describe({ description, notes }: TypedToolFunction, definition: JsonObject): string {
  const words = Object.entries(notes ?? {}).flatMap(([field, say]) => {
    const value = definition[field];
    const said = value === undefined || value === null ? '' : say(value);
    return said === '' ? [] : [said];
  });
  return [description, ...words].join(' ');
}

/** Sets of tools that the client runs (`computer_toolset_20260801`); an MCP one is the provider's. */
const CLIENT_TOOLSET = /^(?:computer|browser)_toolset_/;

/** Why an upstream of another dialect is not offered a tool; `otherwise` where the provider runs it. */
export function whyNotOffered({ kind, dialect }: ProviderToolDefinition, otherwise: string): string {
  return CLIENT_TOOLSET.test(kind) ? `${kind} is a set of tools that only ${dialect} knows` : otherwise;
}
