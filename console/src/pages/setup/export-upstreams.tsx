import { useEffect, useState } from 'react';
import { get } from '../../data/api.js';
import { useText } from '../../text/language.js';
import { Button } from '../../ui/button.js';
import { CodeBlock } from '../../ui/code-block.js';
import { Dialog } from '../../ui/dialog.js';
import { ErrorNote } from '../../ui/error-note.js';
import { saveText } from '../../ui/save.js';
import { Skeleton } from '../../ui/skeleton.js';
import { upstreamStrings } from './upstream-strings.js';

const FILE = 'toolgate-upstreams.yaml';

/** What was connected here, to be pasted into the file. */
export function ExportUpstreams({ open, onClose }: { open: boolean; onClose: () => void }) {
  const text = useText(upstreamStrings);
  const [yaml, setYaml] = useState<string>();
  const [problem, setProblem] = useState<string>();
  useEffect(() => {
    if (!open) return;
    const gone = new AbortController();
    setYaml(undefined);
    setProblem(undefined);
    get<string>('/api/upstreams/export', gone.signal).then(setYaml, (error: unknown) => {
      if (!gone.signal.aborted) setProblem(error instanceof Error ? error.message : String(error));
    });
    return () => gone.abort();
  }, [open]);
  return (
    <Dialog
      open={open}
      onClose={onClose}
      title={text.exportTitle}
      width="wide"
      actions={
        yaml !== undefined && (
          <Button variant="primary" onClick={() => saveText(FILE, 'application/yaml', yaml)}>
            {text.save}
          </Button>
        )
      }
    >
      <p className="mb-3 text-muted">{text.exportText}</p>
      {problem !== undefined ? (
        <ErrorNote title={text.exportFailed} message={problem} />
      ) : yaml === undefined ? (
        <Skeleton lines={4} />
      ) : (
        <CodeBlock label={FILE} text={yaml} language="yaml" maxHeight="max-h-96" wrap title />
      )}
    </Dialog>
  );
}
