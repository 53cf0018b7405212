/** The tools that come with the gateway, in the order in which models are shown them. */
import { askUserQuestionTool } from './ask-user-question.js';
import { bashOutputTool, killShellTool } from './bash/background.js';
import { createBashTool } from './bash/bash.js';
import { exitPlanModeTool } from './exit-plan-mode.js';
import { editTool, multiEditTool } from './files/edit.js';
import { lsTool } from './files/ls.js';
import { notebookEditTool } from './files/notebook-edit.js';
import { notebookReadTool } from './files/notebook-read.js';
import { readTool } from './files/read.js';
import { writeTool } from './files/write.js';
import { memoryReadTool, memoryWriteTool } from './memory.js';
import type { ToolSource } from './runtime/registry.js';
import type { Tool } from './runtime/tool.js';
import { globTool } from './search/glob.js';
import { grepTool } from './search/grep.js';
import { stickerRequestTool } from './sticker-request.js';
import { architectTool, taskTool } from './task.js';
import { thinkTool } from './think.js';
import { todoReadTool, todoWriteTool } from './todo.js';
import { webFetchTool } from './web/web-fetch.js';
import { type WebSearchOptions, webSearchTool } from './web/web-search.js';

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
const BUILT_INS: readonly ((options: BuiltInOptions) => Tool)[] = [
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
