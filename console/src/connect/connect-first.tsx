import { useText } from '../text/language.js';
import { ConnectButton } from './connect-button.js';
import { strings } from './strings.js';

/** On the first screen, while nothing but the demo model is connected. */
export function ConnectFirst() {
  const text = useText(strings);
  return (
    <div className="mt-6 flex flex-wrap items-center justify-between gap-3 rounded-lg border border-line bg-surface px-4 py-3 text-sm">
      <p className="min-w-0 flex-1 basis-56">
        <span className="block font-medium">{text.onlyDemo}</span>
        <span className="text-muted">{text.onlyDemoText}</span>
      </p>
      <ConnectButton />
    </div>
  );
}
