/**
 * What the gateway has of a conversation: pictures and files. An address in a picture or a link would
 * be asked for without the page's secret, so the page fetches the bytes itself.
 */
import { type ReactNode, useEffect, useState } from 'react';
import { pageFetch } from '../../data/api.js';
import { save } from '../../ui/save.js';
import { toast } from '../../ui/toast.js';

/** The gateway names only these as pictures; nothing that it serves becomes a document of this origin. */
export const PICTURES = new Set(['image/png', 'image/jpeg', 'image/gif', 'image/webp']);

type Loaded = { kind: 'loading' } | { kind: 'there'; address: string } | { kind: 'gone' };

/** `missing` is shown where the gateway no longer has it. */
export function OwnPicture({
  href,
  alt,
  label,
  className,
  missing,
}: {
  href: string;
  alt: string;
  label?: string;
  className: string;
  missing: ReactNode;
}) {
  const loaded = usePicture(href);
  if (loaded.kind === 'gone') return missing;
  if (loaded.kind === 'loading') return <span className={className} aria-busy="true" />;
  const { address } = loaded;
  return (
    <a
      href={address}
      target="_blank"
      rel="noopener noreferrer"
      aria-label={label}
      className="block max-w-full"
    >
      <img src={address} alt={alt} className={className} />
    </a>
  );
}

function usePicture(href: string): Loaded {
  const [loaded, setLoaded] = useState<Loaded>({ kind: 'loading' });
  useEffect(() => {
    const gone = new AbortController();
    let address: string | undefined;
    setLoaded({ kind: 'loading' });
    fetchOwn(href, gone.signal)
      .then((answer) => answer.blob())
      .then((blob) => {
        if (gone.signal.aborted) return;
        if (!PICTURES.has(blob.type)) return setLoaded({ kind: 'gone' });
        address = URL.createObjectURL(blob);
        setLoaded({ kind: 'there', address });
      })
      .catch(() => {
        if (!gone.signal.aborted) setLoaded({ kind: 'gone' });
      });
    return () => {
      gone.abort();
      if (address !== undefined) URL.revokeObjectURL(address);
    };
  }, [href]);
  return loaded;
}

/** Saved when it is pressed; `missing` is said where the gateway no longer has it. */
export function OwnFile({
  href,
  className,
  missing,
  children,
}: {
  href: string;
  className: string;
  missing: string;
  children: ReactNode;
}) {
  const onPress = (): void => {
    fetchOwn(href).then(
      async (answer) => save(nameIn(answer), await answer.blob()),
      () => toast(missing, 'warn'),
    );
  };
  return (
    <button type="button" onClick={onPress} className={className}>
      {children}
    </button>
  );
}

async function fetchOwn(href: string, signal?: AbortSignal): Promise<Response> {
  const answer = await pageFetch(href, signal === undefined ? {} : { signal });
  if (!answer.ok) throw new Error(`The gateway answered with ${answer.status}.`);
  return answer;
}

/** The gateway's name for it, by its kind: a title comes from a model and may end in anything. */
function nameIn({ headers }: Response): string {
  return /filename="([^"]+)"/.exec(headers.get('content-disposition') ?? '')?.[1] ?? 'attachment';
}
