/** The tools that come with the gateway, in the order in which models are shown them. */
import { architectTool } from './architect/architect.js';
import { askUserQuestionTool } from './ask-user-question/ask-user-question.js';
import { createBashTool } from './bash/bash.js';
import { bashOutputTool } from './bash-output/bash-output.js';
import { editTool } from './edit/edit.js';
import { exitPlanModeTool } from './exit-plan-mode/exit-plan-mode.js';
import { globTool } from './glob/glob.js';
import { grepTool } from './grep/grep.js';
import { killShellTool } from './kill-shell/kill-shell.js';
import { lsTool } from './ls/ls.js';
import { memoryReadTool } from './memory-read/memory-read.js';
import { memoryWriteTool } from './memory-write/memory-write.js';
import { multiEditTool } from './multi-edit/multi-edit.js';
import { notebookEditTool } from './notebook-edit/notebook-edit.js';
import { notebookReadTool } from './notebook-read/notebook-read.js';
import { readTool } from './read/read.js';
import type { ToolSource } from './runtime/registry.js';
import type { Tool } from './runtime/tool.js';
import { stickerRequestTool } from './sticker-request/sticker-request.js';
import { taskTool } from './task/task.js';
import { thinkTool } from './think/think.js';
import { todoReadTool } from './todo-read/todo-read.js';
import { todoWriteTool } from './todo-write/todo-write.js';
import { webFetchTool } from './web-fetch/web-fetch.js';
import { type WebSearchOptions, webSearchTool } from './web-search/web-search.js';
import { writeTool } from './write/write.js';

/** The configuration's `tools`, as far as it is about built-ins. */
export interface BuiltInOptions {
  memory: boolean;
  architect: boolean;
  sticker: boolean;
  web_search: WebSearchOptions;
  web_fetch: { allow_private: readonly string[] };
  /** Of the gateway: where programs are found. Without it, in the usual folders. */
  environment?: Readonly<Record<string, string | undefined>>;
}

/** One line for each. A switch that is off leaves the tool in the list, with the reason. */
export const BUILT_INS: readonly ((options: BuiltInOptions) => Tool)[] = [
  () => readTool,
  () => writeTool,
  () => editTool,
  () => multiEditTool,
  () => globTool,
  () => grepTool,
  () => lsTool,
  () => notebookReadTool,
  () => notebookEditTool,
  ({ environment }) => createBashTool(environment === undefined ? {} : { environment }),
  () => bashOutputTool,
  () => killShellTool,
  ({ web_fetch }) => webFetchTool({ allowPrivate: web_fetch.allow_private }),
  ({ web_search }) => webSearchTool(web_search),
  () => taskTool,
  () => todoReadTool,
  () => todoWriteTool,
  () => askUserQuestionTool,
  () => exitPlanModeTool,
  () => thinkTool,
  ({ memory }) => memoryReadTool({ enabled: memory }),
  ({ memory }) => memoryWriteTool({ enabled: memory }),
  ({ architect }) => architectTool({ enabled: architect }),
  ({ sticker }) => stickerRequestTool({ enabled: sticker }),
];

export function createBuiltIns(options: BuiltInOptions): ToolSource {
  const tools = BUILT_INS.map((make) => make(options));
  return { source: 'built-in', tools: () => tools };
}
