/** Model servers that people run on their own machine, at the ports they use by default. */
import { httpGet, modelIds } from './shared/http-get.js';

export interface LocalServer {
  name: string;
  title: string;
  baseUrl: string;
}

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

/** Those that answer with a list of models; whatever else listens on these ports is passed over. */
export async function findLocalServers(
  servers: readonly LocalServer[] = LOCAL_SERVERS,
): Promise<FoundServer[]> {
  const answers = await Promise.all(
    servers.map(async (server): Promise<FoundServer | undefined> => {
      const models = await listModels(server.baseUrl);
      return models === undefined ? undefined : { ...server, models };
    }),
  );
  return answers.filter((found) => found !== undefined);
}

async function listModels(baseUrl: string): Promise<string[] | undefined> {
  const answer = await httpGet(new URL(`${baseUrl}/models`), { timeoutMs: PROBE_TIMEOUT_MS });
  return answer.kind === 'answered' && answer.status === 200 ? modelIds(answer.body) : undefined;
}
