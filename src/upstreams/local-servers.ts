/** Model servers that people run on their own machine, at the ports they use by default. */
import { askForModels } from './ask-for-models.js';

export interface LocalServer {
  name: string;
  title: string;
  baseUrl: string;
  /** How long it is waited for. */
  patienceMs?: number;
}

/** All of them speak Chat Completions. */
export const LOCAL_DIALECT = 'openai-chat';

export const LOCAL_SERVERS: readonly LocalServer[] = [
  { name: 'ollama', title: 'Ollama', baseUrl: 'http://127.0.0.1:11434/v1' },
  { name: 'lmstudio', title: 'LM Studio', baseUrl: 'http://127.0.0.1:1234/v1' },
  { name: 'llamacpp', title: 'llama.cpp', baseUrl: 'http://127.0.0.1:8080/v1' },
  { name: 'vllm', title: 'vLLM', baseUrl: 'http://127.0.0.1:8000/v1' },
];

export interface FoundServer extends LocalServer {
  models: readonly string[];
}

const PROBE_TIMEOUT_MS = 800;

/** Those that answer with a list of models; whatever else listens on these ports is passed over. Never rejects. */
export async function findLocalServers(
  servers: readonly LocalServer[] = LOCAL_SERVERS,
  stopped: AbortSignal = new AbortController().signal,
): Promise<FoundServer[]> {
  const patience = Math.max(...servers.map(({ patienceMs = PROBE_TIMEOUT_MS }) => patienceMs), 0);
  const signal = AbortSignal.any([stopped, AbortSignal.timeout(patience)]);
  const answers = await Promise.all(
    servers.map(async (server): Promise<FoundServer | undefined> => {
      const answer = await askForModels({ dialect: LOCAL_DIALECT, base_url: server.baseUrl }, signal);
      return answer.kind === 'models' ? { ...server, models: answer.models } : undefined;
    }),
  );
  return answers.filter((found) => found !== undefined);
}
