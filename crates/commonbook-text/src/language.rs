//! Languages: whether a model that reads English can read a text.

use whatlang::Lang;

/// Characters at the beginning of a text that tell its language.
const READ_CHARS: usize = 2_000;

/// How sure the language has to be. Of some 270 English notes of engineers one is above, of 48 notes in German,
/// Chinese, Japanese and Korean one below (`tasks/engineering`, `tasks/languages`).
const CONFIDENCE_MIN: f64 = 0.5;

/// Whether a text is in another language than English, as far as its letters and their groups tell.
#[must_use]
pub fn is_foreign(text: &str) -> bool {
    let end = text.char_indices().nth(READ_CHARS).map_or(text.len(), |(end, _)| end);
    whatlang::detect(&text[..end])
        .is_some_and(|found| found.lang() != Lang::Eng && found.confidence() >= CONFIDENCE_MIN)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_in_another_language_is_told_from_english() {
        let foreign = [
            "Der Server wird nicht neu gestartet, wir warten auf die Freigabe.",
            "支付服务重试三次，然后放弃并写入死信队列。",
            "数据库在星期天晚上重置",
            "決済サービスは三回リトライしてから諦めます。",
            "결제 서비스는 세 번 재시도한 뒤 포기합니다.",
            "Le service de paiement est redémarré par les équipes dans la nuit.",
            "El servicio de pagos no está listo para los clientes del norte.",
            "O serviço não foi aprovado pelo time, mas uma cópia são dos testes.",
            "Платёжный сервис повторяет запрос три раза.",
            "De dienst wordt niet herstart, omdat de klanten anders hun facturen niet meer kunnen zien.",
            "خدمة الدفع تعيد المحاولة ثلاث مرات",
            "Tjänsten är inte klar och det är något som vi väntar på.",
            "Serwis nie jest gotowy, że się nie da tego zrobić na czas.",
        ];
        for text in foreign {
            assert!(is_foreign(text), "{text}");
        }
        let english = [
            "The payment service retries three times, and gives up.",
            "Call InvoiceAssembler.addCharge() with des, les and que as codes.",
            "fn main() { let el = dom.query(\"los\"); }",
            "Rue de la Paix 5 is the address of the café in the contract.",
            "curl -s http://127.0.0.1:7077/v1/memories -H 'X: 1'",
            "The π value and the Δ of α are in the table of the report.",
            "rm -rf target/ && cargo build",
            "Müller & Söhne pay on the 5th; call Frau Oelze.",
            "VPN down. DNS ok. MTU 1380!",
            "",
        ];
        for text in english {
            assert!(!is_foreign(text), "{text}");
        }
    }
}
