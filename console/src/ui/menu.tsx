import {
  cloneElement,
  lazy,
  type MouseEvent,
  type ReactElement,
  type ReactNode,
  Suspense,
  useState,
} from 'react';
import { IconButton } from './icon-button.js';
import { MoreIcon } from './icons.js';
import { loadMenu } from './load.js';

interface MenuItem {
  label: string;
  onSelect: () => void;
  icon?: ReactNode;
  tone?: 'plain' | 'danger' | undefined;
  disabled?: boolean | undefined;
  /** Of one among several: shown with a mark. */
  checked?: boolean | undefined;
}

export type MenuEntry = MenuItem | 'separator';

export type MenuTrigger = ReactElement<Record<string, unknown>>;

export interface MenuProps {
  /** Of the menu, and of its button where there is no `trigger`. */
  label: string;
  /** A `Button` or `IconButton` of its own. */
  trigger?: MenuTrigger | undefined;
  items: readonly MenuEntry[];
  align?: 'start' | 'end' | undefined;
}

const MenuView = lazy(async () => ({ default: (await loadMenu()).MenuView }));

/** A page may have hundreds of them: until it is pressed, a menu is only its button. */
export function Menu({ label, trigger, items, align }: MenuProps) {
  const [wanted, setWanted] = useState(false);
  const own: MenuTrigger = trigger ?? (
    <IconButton label={label}>
      <MoreIcon />
    </IconButton>
  );
  const closed = cloneElement(own, {
    'aria-haspopup': 'menu',
    'aria-expanded': false,
    onClick: (event: MouseEvent) => {
      event.preventDefault();
      setWanted(true);
    },
  });
  if (!wanted) return closed;
  return (
    <Suspense fallback={closed}>
      <MenuView label={label} trigger={own} items={items} align={align} />
    </Suspense>
  );
}
