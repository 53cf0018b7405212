import type { SessionModeWire } from '../../../src/server/console-api/wire/sessions.js';
import { FolderPicker } from './folder-picker.js';
import { ModePicker } from './mode-picker.js';
import { ModelPicker } from './model-picker.js';
import type { ModelChoice } from './use-model-choice.js';

interface ChoicesProps {
  choice: ModelChoice;
  forks: boolean;
  mode: { value: SessionModeWire | null; set: (mode: SessionModeWire | null) => void };
}

/** Beside the text: who is asked, and where an agent works. `forks`: another folder is another conversation. */
export function Choices({ choice, forks, mode }: ChoicesProps) {
  return (
    <>
      <ModelPicker
        list={choice.list}
        reload={choice.reload}
        value={choice.model}
        onChange={choice.setModel}
      />
      {choice.agent && <FolderPicker value={choice.folder} onChange={choice.setFolder} forks={forks} />}
      {choice.agent && choice.entry !== undefined && (
        <ModePicker entry={choice.entry} value={mode.value} onChange={mode.set} />
      )}
    </>
  );
}
