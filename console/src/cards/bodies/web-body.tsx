import { useMemo } from 'react';
import { useText } from '../../text/language.js';
import { VisibleText } from '../../ui/visible-text.js';
import { linksOf, textField } from '../parse/tool-output.js';
import { Away } from '../view/media.js';
import { strings } from '../view/strings.js';
import { type BodyProps, Labelled, PlainResult, resultText } from './body.js';

/** WebFetch and WebSearch: where it went, and the addresses that came back. */
export function WebBody({ card, input }: BodyProps) {
  const text = useText(strings);
  const url = textField(input.value, 'url');
  const query = textField(input.value, 'query');
  const prompt = textField(input.value, 'prompt');
  const content = resultText(card.result);
  const links = useMemo(() => linksOf(content).filter((link) => link.url !== url), [content, url]);
  return (
    <>
      {url !== undefined && (
        <p className="text-sm">
          <Away url={url} />
        </p>
      )}
      {[query, prompt].map(
        (each) =>
          each !== undefined && (
            <p key={each} className="text-sm wrap-anywhere">
              <VisibleText text={each} />
            </p>
          ),
      )}
      {links.length > 0 && (
        <Labelled label={text.links}>
          <ul className="max-h-48 space-y-1 overflow-auto text-xs">
            {links.map((link) => (
              <li key={link.url}>
                {link.title !== '' && (
                  <span className="block font-medium wrap-anywhere">
                    <VisibleText text={link.title} />
                  </span>
                )}
                <Away url={link.url} />
              </li>
            ))}
          </ul>
        </Labelled>
      )}
      <PlainResult card={card} />
    </>
  );
}
