import { useText } from '../../text/language.js';
import { Button } from '../../ui/button.js';
import { IconButton } from '../../ui/icon-button.js';
import { CloseIcon, PlusIcon } from '../../ui/icons.js';
import { Input } from '../../ui/input.js';
import { strings } from './strings.js';

interface EditedPair {
  id: number;
  name: string;
  value: string;
}

interface PairsEditorProps {
  label: string;
  hint: string;
  error: string | undefined;
  pairs: readonly EditedPair[];
  onChange: (pairs: readonly EditedPair[]) => void;
  /** Values are not shown while they are typed. */
  secret: boolean;
}

/** Names and their values, one row each. */
export function PairsEditor({ label, hint, error, pairs, onChange, secret }: PairsEditorProps) {
  const text = useText(strings);
  const change = (id: number, to: Partial<EditedPair>) =>
    onChange(pairs.map((pair) => (pair.id === id ? { ...pair, ...to } : pair)));
  const next = Math.max(0, ...pairs.map(({ id }) => id)) + 1;
  return (
    <fieldset className="flex min-w-0 flex-col gap-1.5">
      <legend className="mb-1 text-sm font-medium">{label}</legend>
      {pairs.map((pair, index) => (
        <div key={pair.id} className="flex items-center gap-1.5">
          <Input
            aria-label={text.pairName(label, index + 1)}
            placeholder={text.name}
            value={pair.name}
            autoComplete="off"
            spellCheck={false}
            aria-invalid={error !== undefined || undefined}
            className="font-mono !text-xs"
            onChange={(event) => change(pair.id, { name: event.target.value })}
          />
          <Input
            aria-label={text.pairValue(label, index + 1)}
            placeholder={text.value}
            type={secret ? 'password' : 'text'}
            autoComplete={secret ? 'new-password' : 'off'}
            spellCheck={false}
            value={pair.value}
            className="font-mono !text-xs"
            onChange={(event) => change(pair.id, { value: event.target.value })}
          />
          <IconButton
            label={text.removeRow(label, index + 1)}
            size="small"
            onClick={() => onChange(pairs.filter(({ id }) => id !== pair.id))}
          >
            <CloseIcon size={14} />
          </IconButton>
        </div>
      ))}
      <Button
        size="small"
        className="self-start"
        icon={<PlusIcon size={12} />}
        onClick={() => onChange([...pairs, { id: next, name: '', value: '' }])}
      >
        {text.addRow(label)}
      </Button>
      <p className="text-xs text-muted">{hint}</p>
      {error !== undefined && (
        <p role="alert" className="text-xs font-medium text-danger">
          {error}
        </p>
      )}
    </fieldset>
  );
}
