import { useRef, useState } from 'react';
import { useIdentity } from '../data/identity.js';
import { NotificationSwitch } from '../notifications/notification-switch.js';
import { useText } from '../text/language.js';
import { Button } from '../ui/button.js';
import { Confirm } from '../ui/confirm.js';
import { ChevronUpIcon, SignOutIcon, UserIcon } from '../ui/icons.js';
import { toast } from '../ui/toast.js';
import { LanguageChoice, ThemeChoice } from './choices.js';
import { signOut } from './sign-in.js';
import { strings } from './strings.js';

/** The gateway's: both ship in one package. */
const VERSION = document.querySelector('meta[name="toolgate-version"]')?.getAttribute('content') ?? '';
const PANEL = 'settings-panel';

export function showSettings(): void {
  document.getElementById(PANEL)?.showPopover();
}

/** The button shows who is signed in; on a phone there is only room for the icon. */
export function SettingsButton({ compact }: { compact: boolean }) {
  const text = useText(strings);
  const { name } = useIdentity();
  return (
    <button
      type="button"
      popoverTarget={PANEL}
      aria-label={`${text.settings}: ${name}`}
      className="flex min-h-9 min-w-9 cursor-pointer items-center justify-center gap-2 rounded-md px-2 text-sm font-medium hover:bg-raised"
    >
      <UserIcon size={18} className="shrink-0" />
      {!compact && (
        <>
          <span className="min-w-0 flex-1 truncate text-left">{name}</span>
          <ChevronUpIcon className="shrink-0 text-muted" />
        </>
      )}
    </button>
  );
}

export function SettingsPanel() {
  const text = useText(strings);
  const { name, scopes } = useIdentity();
  const leave = async () => {
    if (!(await signOut())) toast(text.signOutFailed, 'danger');
  };
  const [asks, setAsks] = useState(false);
  const panel = useRef<HTMLElement>(null);
  const ask = () => {
    // The panel would cover the dialog.
    panel.current?.hidePopover();
    setAsks(true);
  };
  const leaveEverywhere = async () => {
    if (!(await signOut({ everywhere: true }))) throw new Error(text.signOutFailed);
  };
  return (
    <section
      ref={panel}
      id={PANEL}
      popover="auto"
      aria-label={text.settings}
      className="fixed inset-auto top-13 right-2 m-0 w-72 max-w-[calc(100vw-1rem)] rounded-xl border border-line bg-surface p-4 text-ink shadow-xl md:top-auto md:right-auto md:bottom-24 md:left-2"
    >
      <div className="flex flex-col gap-4">
        <div className="text-sm">
          <p className="text-xs text-muted">{text.signedInAs}</p>
          <p className="font-medium break-words">{name}</p>
          <p className="text-xs text-muted">
            {text.scopes}: {scopes.map((scope) => text.scopeNames[scope] ?? scope).join(', ')}
          </p>
        </div>
        <LanguageChoice />
        <ThemeChoice />
        <NotificationSwitch />
        <div className="flex items-center justify-between gap-2 border-t border-line pt-3">
          <span className="text-xs text-muted">
            {text.version} <span data-version="">{VERSION}</span>
          </span>
          <Button size="small" icon={<SignOutIcon size={14} />} onClick={leave}>
            {text.signOut}
          </Button>
        </div>
        <Button size="small" variant="ghost" onClick={ask}>
          {text.everywhere.action}
        </Button>
      </div>
      <Confirm
        open={asks}
        title={text.everywhere.title}
        text={text.everywhere.text(name)}
        action={text.everywhere.action}
        onConfirm={leaveEverywhere}
        onClose={() => setAsks(false)}
      />
    </section>
  );
}
