/** Opens the form that connects a provider, which loads when it is first needed. */
import { lazy, Suspense, useState } from 'react';
import { useText } from '../text/language.js';
import { Button, type ButtonVariant } from '../ui/button.js';
import { PlugIcon } from '../ui/icons.js';
import { strings } from './strings.js';

const ConnectDialog = lazy(async () => ({ default: (await import('./connect-dialog.js')).ConnectDialog }));

interface ConnectButtonProps {
  variant?: ButtonVariant | undefined;
  /** Called before the page goes to a chat with what was connected. */
  onConnected?: (() => void) | undefined;
}

export function ConnectButton({ variant = 'primary', onConnected }: ConnectButtonProps) {
  const text = useText(strings);
  const [open, setOpen] = useState(false);
  const [wanted, setWanted] = useState(false);
  return (
    <>
      <Button
        variant={variant}
        icon={<PlugIcon />}
        aria-haspopup="dialog"
        onClick={() => {
          setWanted(true);
          setOpen(true);
        }}
      >
        {text.connect}
      </Button>
      {wanted && (
        <Suspense fallback={null}>
          <ConnectDialog open={open} onClose={() => setOpen(false)} onConnected={onConnected} />
        </Suspense>
      )}
    </>
  );
}
