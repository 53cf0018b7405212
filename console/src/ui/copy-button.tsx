import { useEffect, useRef, useState } from 'react';
import { useText } from '../text/language.js';
import { announce } from './announce.js';
import { Button, type ButtonSize, type ButtonVariant } from './button.js';
import { CheckIcon, CopyIcon } from './icons.js';
import { strings } from './strings.js';
import { toast } from './toast.js';

interface CopyButtonProps {
  text: string;
  /** What is copied, for screen readers: "Copy the curl example". */
  label: string;
  variant?: ButtonVariant | undefined;
  size?: ButtonSize | undefined;
}

const SHOWN_MS = 2000;

export function CopyButton({ text, label, variant = 'ghost', size = 'small' }: CopyButtonProps) {
  const words = useText(strings);
  const [copied, setCopied] = useState(false);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  useEffect(() => () => clearTimeout(timer.current), []);
  const copy = async () => {
    try {
      await copyText(text);
    } catch {
      toast(words.copyFailed, 'warn');
      return;
    }
    announce(words.copied);
    setCopied(true);
    clearTimeout(timer.current);
    timer.current = setTimeout(() => setCopied(false), SHOWN_MS);
  };
  return (
    <Button
      variant={variant}
      size={size}
      aria-label={label}
      icon={copied ? <CheckIcon size={14} /> : <CopyIcon size={14} />}
      onClick={copy}
    >
      {copied ? words.copied : words.copy}
    </Button>
  );
}

/** Rejects where the browser does not allow it. Without a secure context there is only the old way. */
export async function copyText(text: string): Promise<void> {
  if (navigator.clipboard !== undefined) return navigator.clipboard.writeText(text);
  const area = document.createElement('textarea');
  area.value = text;
  area.className = 'sr-only';
  document.body.append(area);
  area.select();
  const done = document.execCommand('copy');
  area.remove();
  if (!done) throw new Error('The browser did not copy');
}
