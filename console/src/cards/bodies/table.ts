/** Which body a call has: by the name of its tool, else by what the gateway says that it does. */
import type { ComponentType } from 'react';
import type { ToolCard } from '../../data/reducer/view.js';
import {
  BotIcon,
  EditIcon,
  FileIcon,
  GlobeIcon,
  type IconProps,
  InfoIcon,
  ListIcon,
  PlugIcon,
  SearchIcon,
  TerminalIcon,
  ToolIcon,
} from '../../ui/icons.js';
import { mcpName } from '../parse/tool-output.js';
import { BashBody } from './bash-body.js';
import type { BodyProps } from './body.js';
import { EditBody } from './edit-body.js';
import { GenericBody } from './generic-body.js';
import { PlanBody, QuestionBody, ThinkBody } from './question-body.js';
import { ReadBody } from './read-body.js';
import { SearchBody } from './search-body.js';
import { TaskBody } from './task-body.js';
import { TodoBody } from './todo-body.js';
import { WebBody } from './web-body.js';

interface Look {
  Body: ComponentType<BodyProps>;
  Icon: ComponentType<IconProps>;
}

const COMMAND: Look = { Body: BashBody, Icon: TerminalIcon };
const EDIT: Look = { Body: EditBody, Icon: EditIcon };
const READ: Look = { Body: ReadBody, Icon: FileIcon };
const SEARCH: Look = { Body: SearchBody, Icon: SearchIcon };
const WEB: Look = { Body: WebBody, Icon: GlobeIcon };
const AGENT: Look = { Body: TaskBody, Icon: BotIcon };
const OTHER: Look = { Body: GenericBody, Icon: ToolIcon };

const BY_NAME: Readonly<Record<string, Look>> = {
  Bash: COMMAND,
  BashOutput: COMMAND,
  Edit: EDIT,
  MultiEdit: EDIT,
  Write: EDIT,
  NotebookEdit: EDIT,
  Read: READ,
  NotebookRead: READ,
  Grep: SEARCH,
  Glob: SEARCH,
  LS: { Body: GenericBody, Icon: SearchIcon },
  TodoWrite: { Body: TodoBody, Icon: ListIcon },
  WebFetch: WEB,
  WebSearch: WEB,
  Task: AGENT,
  Agent: AGENT,
  Architect: AGENT,
  AskUserQuestion: { Body: QuestionBody, Icon: InfoIcon },
  ExitPlanMode: { Body: PlanBody, Icon: ListIcon },
  Think: { Body: ThinkBody, Icon: InfoIcon },
};

const BY_KIND: Readonly<Record<string, Look>> = {
  command: { Body: GenericBody, Icon: TerminalIcon },
  edit: { Body: GenericBody, Icon: EditIcon },
  read: { Body: GenericBody, Icon: FileIcon },
  search: { Body: GenericBody, Icon: SearchIcon },
  fetch: { Body: GenericBody, Icon: GlobeIcon },
  agent: AGENT,
  mcp: { Body: GenericBody, Icon: PlugIcon },
};

export function lookOf({ name, kind, command, diff, agent }: ToolCard): Look {
  const named = Object.hasOwn(BY_NAME, name) ? BY_NAME[name] : undefined;
  if (named !== undefined) return named;
  // A tool that the gateway knows by what it does, whatever it is called.
  if (agent !== undefined) return AGENT;
  if (command !== undefined) return COMMAND;
  if (diff !== undefined) return EDIT;
  if (mcpName(name) !== undefined) return { Body: GenericBody, Icon: PlugIcon };
  return (kind !== undefined && Object.hasOwn(BY_KIND, kind) ? BY_KIND[kind] : undefined) ?? OTHER;
}
