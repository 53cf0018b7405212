export interface BundleLoader {
  load(specifier: string): Promise<unknown>;
  resolve(specifier: string): string;
}

export function loadBundle(
  url: string,
  loader: BundleLoader,
): { bundle: unknown; keepCache: (() => void) | undefined };
