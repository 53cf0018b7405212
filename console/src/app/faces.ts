/**
 * The faces of the page, loaded before anything is drawn: one that came later would move what a person reads,
 * and a list that follows its end would leave the place that they have scrolled to.
 */
const FACES = ['1em "Inter Variable"', '1em "JetBrains Mono Variable"'];
/** A slow network shows the page in fonts of the system first. */
const PATIENCE_MS = 1000;

/** Never rejects. */
export function facesLoaded(): Promise<unknown> {
  const loaded = Promise.allSettled(FACES.map((face) => document.fonts.load(face)));
  return Promise.race([loaded, new Promise((resolve) => setTimeout(resolve, PATIENCE_MS))]);
}
