import { type ReactNode, useState } from 'react';
import { useText } from '../text/language.js';
import { Button } from './button.js';
import { Dialog } from './dialog.js';
import { ErrorNote } from './error-note.js';
import { strings } from './strings.js';

interface ConfirmProps {
  open: boolean;
  title: string;
  text: ReactNode;
  /** What the button does: a verb, not "OK". */
  action: string;
  tone?: 'primary' | 'danger' | undefined;
  /** Where it rejects, the message is shown and the question stays. */
  onConfirm: () => void | Promise<void>;
  onClose: () => void;
}

export function Confirm({ open, title, text, action, tone = 'danger', onConfirm, onClose }: ConfirmProps) {
  const words = useText(strings);
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState<string>();
  const close = () => {
    setProblem(undefined);
    onClose();
  };
  const confirm = async () => {
    setBusy(true);
    setProblem(undefined);
    try {
      await onConfirm();
      close();
    } catch (error) {
      setProblem(error instanceof Error ? error.message : String(error));
    } finally {
      setBusy(false);
    }
  };
  return (
    <Dialog
      open={open}
      onClose={close}
      title={title}
      actions={
        <>
          <Button onClick={close}>{words.cancel}</Button>
          <Button variant={tone} busy={busy} onClick={confirm}>
            {action}
          </Button>
        </>
      }
    >
      <div className="break-words">{text}</div>
      {problem !== undefined && (
        <div className="mt-3">
          <ErrorNote message={problem} />
        </div>
      )}
    </Dialog>
  );
}
