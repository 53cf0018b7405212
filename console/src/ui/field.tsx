import { createContext, type ReactNode, useContext, useId } from 'react';

interface FieldIds {
  id: string;
  describedBy: string | undefined;
  invalid: boolean;
}

const Ids = createContext<FieldIds | undefined>(undefined);

/** What an `Input` or `TextArea` inside a `Field` takes from it. */
export function useField(): FieldIds | undefined {
  return useContext(Ids);
}

interface FieldProps {
  label: ReactNode;
  hint?: ReactNode;
  error?: string | undefined;
  /** One `Input` or `TextArea`. */
  children: ReactNode;
}

export function Field({ label, hint, error, children }: FieldProps) {
  const id = useId();
  const described = [hint !== undefined && `${id}-hint`, error !== undefined && `${id}-error`].filter(
    (each) => each !== false,
  );
  return (
    <div className="flex min-w-0 flex-col gap-1">
      <label htmlFor={id} className="text-sm font-medium">
        {label}
      </label>
      <Ids.Provider
        value={{
          id,
          describedBy: described.length === 0 ? undefined : described.join(' '),
          invalid: error !== undefined,
        }}
      >
        {children}
      </Ids.Provider>
      {hint !== undefined && (
        <p id={`${id}-hint`} className="text-xs text-muted">
          {hint}
        </p>
      )}
      {error !== undefined && (
        <p id={`${id}-error`} className="text-xs font-medium text-danger">
          {error}
        </p>
      )}
    </div>
  );
}
