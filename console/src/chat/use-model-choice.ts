/** Which model is asked, and in which folder an agent works. */
import { useState } from 'react';
import type { ModelWire, SessionWire } from '../../../src/server/console-api/wire/sessions.js';
import { findModel, firstModel, lastModel, type ModelList, rememberModel, useModels } from './models.js';

/** The one name of an upstream that is always the demo model's. */
const DEMO = 'demo';

export interface ModelChoice {
  list: ModelList;
  reload: () => void;
  model: string | undefined;
  entry: ModelWire | undefined;
  /** Undefined for what works in no folder. */
  folder: string | undefined;
  /** What has to be said to the gateway: nothing where it is the model's own, or the session's. */
  cwd: string | undefined;
  agent: boolean;
  /** Only the embedded demo model answers. */
  demo: boolean;
  /** Whatever is chosen, the demo model answers: nothing else is connected. */
  onlyDemo: boolean;
  setModel: (model: string) => void;
  setFolder: (folder: string) => void;
}

/** `asked`: the model that the address of the page names. */
export function useModelChoice(session: SessionWire | undefined, asked?: string): ModelChoice {
  const { list, reload } = useModels();
  const [chosen, setChosen] = useState<string>();
  const [folderChosen, setFolderChosen] = useState<string>();
  const models = list.status === 'ready' ? list.models : [];
  const model = chosen ?? session?.model ?? asked ?? firstModel(models, lastModel());
  const entry = model === undefined ? undefined : findModel(models, model);
  const engine = entry?.engine ?? (model === session?.model ? session?.engine : undefined) ?? 'relay';
  const agent = engine !== 'relay';
  const own = session?.root ?? entry?.root ?? undefined;
  const folder = agent ? (folderChosen ?? own) : undefined;
  return {
    list,
    reload,
    model,
    entry,
    folder,
    cwd: agent && folderChosen !== undefined && folderChosen !== own ? folderChosen : undefined,
    agent,
    demo: entry !== undefined && isDemo(entry),
    onlyDemo: list.status === 'ready' && models.every(isDemo),
    setModel: (next) => {
      setChosen(next);
      rememberModel(next);
    },
    setFolder: setFolderChosen,
  };
}

function isDemo({ upstreams }: ModelWire): boolean {
  return upstreams.every((upstream) => upstream === DEMO);
}
