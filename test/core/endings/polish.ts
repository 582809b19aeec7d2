import { done, missed, T, unfinished } from './ending.ts';

export const POLISH = [
  ...unfinished(
    [
      'denied',
      `Nie piszę ${T}, bo dwa testy nie przechodzą.`,
      `Na razie bez ${T}.`,
      `Praca nie jest COMPLETE.`,
      `Napisać teraz ${T} byłoby nieprawdą.`,
    ],
    [
      'to come',
      `Zakończę przez ${T}`,
      `Jutro będę mógł napisać ${T}.`,
      `Najpierw dokumentacja, potem ${T}`,
      `Gdy build przejdzie, napiszę ${T}.`,
    ],
    [
      'on a condition',
      `Jeśli wszystko przejdzie, odpowiem: ${T}`,
      `Po migracji ostatnią linią będzie:\n\n${T}`,
      `Dopiero po przeglądzie przez zespół napiszę\n${T}`,
    ],
    [
      'a question',
      `Czy mam napisać ${T}?`,
      `Czy to COMPLETE?`,
      `Czy mogę uznać to za gotowe? COMPLETE?`,
    ],
    [
      'quoted',
      `W poleceniu stoi „${T}”.`,
      `„${T}”`,
      `> ${T}\n\nTego się oczekuje; jeszcze tam nie jestem.`,
      `Napisano:\n> zakończ przez\n${T}`,
    ],
    [
      'code',
      `Ta linia to \`${T}\`.`,
      `Ta linia to:\n\n    ${T}`,
      `\`\`\`\n${T}\n\`\`\`\n`,
      `Wzór: \`\`\`\n\n${T}\n\`\`\``,
    ],
    ['a field', `Stan: jeszcze nie COMPLETE`, `Etap 1 COMPLETE, etap 2 otwarty`, `Cel: ${T}`],
    [
      'an abbreviation before it',
      `Linia końcowa, np. ${T}`,
      `Testy, dokumenty itd. ${T}`,
      `Por. zasada, por. ${T}`,
      `Linia końcowa, tzn. ${T}`,
    ],
    [
      'taken back behind it',
      `${T}\n\nChwila, jeden test nadal nie przechodzi.`,
      `${T}\n\nUwaga: wdrożenia jeszcze nie było.`,
      `Gotowe.\n\nCOMPLETE\n\nJednak nie, brakuje tłumaczeń.`,
    ],
    ['an open box behind it', `${T}\n\n- [ ] uzupełnić README`],
    ['a numbered line', `Zostało: 1. testy 2. dokumenty 3. ${T}`],
    ['a list of states', `OTWARTE\nW TOKU\nCOMPLETE`],
    [
      'half a sentence',
      `Nie mogę jeszcze z czystym sumieniem stwierdzić, że to koniec\n${T}`,
      `Stan tego zadania to zdecydowanie jeszcze nie\nCOMPLETE`,
    ],
  ),
  ...done(
    [
      'on the last line',
      `Wszystkie testy przechodzą.\n\n${T}`,
      `Naprawiłem błąd i uzupełniłem opis.\n\n**${T}**`,
      `Zrobione!\n${T}`,
      `## Podsumowanie\n- naprawione\n- sprawdzone\n\n${T}`,
      `Nic nie zostało.\n\n${T}!`,
    ],
    [
      'behind a sentence',
      `Wszystko zrobione. ${T}`,
      `Działa! ${T}`,
      `Coś nie przechodzi? Nie. ${T}`,
      `Testy trwały 5 s. ${T}`,
      `Rozwiązane przez plan B. ${T}`,
    ],
    [
      'bare',
      `Migracja zakończona.\n\nCOMPLETE`,
      `Wszystko sprawdzone.\nCOMPLETE.`,
      `# Koniec\nCOMPLETE`,
      `Dostarczone. 🎉\n\nCOMPLETE`,
    ],
    ['after a mention', `Na końcu miało być ${T}. Wszystko przechodzi.\n\n${T}`],
  ),
  ...missed(
    ['a summary behind it', `${T}\n\nPodsumowanie: zmieniono trzy pliki.`],
    ['a bare closing sentence', `Wszystkie testy przechodzą. COMPLETE`, `Gotowe! COMPLETE`],
    ['struck through', `Wszystko działa.\n\n~~${T}~~`],
  ),
];
