import { FolderPicker } from './folder-picker.js';
import { ModelPicker } from './model-picker.js';
import type { ModelChoice } from './use-model-choice.js';

/** Beside the text: who is asked, and where an agent works. `forks`: another folder is another conversation. */
export function Choices({ choice, forks }: { choice: ModelChoice; forks: boolean }) {
  return (
    <>
      <ModelPicker
        list={choice.list}
        reload={choice.reload}
        value={choice.model}
        onChange={choice.setModel}
      />
      {choice.agent && <FolderPicker value={choice.folder} onChange={choice.setFolder} forks={forks} />}
    </>
  );
}
