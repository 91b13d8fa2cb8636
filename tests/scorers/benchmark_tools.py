"""What the writing tools of two published benchmarks do to their databases, as far as a reward looks at it.

The database is what the recorded runs read of it. Nothing is checked: of a run, only the calls are made that
succeeded, and expected calls are taken to succeed. A record that no run ever read is a KeyError.
"""

import json
from copy import deepcopy


def booked(db, user_id, cabin, flights, passengers, payment_methods, insurance, **rest):
    """A new reservation, paid for with what the user has."""
    user = db["users"][user_id]
    name = next(n for n in ("HATHAT", "HATHAU", "HATHAV") if n not in db["reservations"])
    legs = [{**flight, **db["flights"][_leg(flight, cabin)]} for flight in flights]
    for payment in payment_methods:
        method = user["payment_methods"][payment["payment_id"]]
        if method["source"] == "gift_card":
            method["amount"] -= payment["amount"]
        elif method["source"] == "certificate":
            del user["payment_methods"][payment["payment_id"]]
    fields = {"user_id": user_id, "cabin": cabin, "passengers": passengers, "insurance": insurance, **rest}
    db["reservations"][name] = {**fields, "flights": legs, "payment_history": deepcopy(payment_methods)}
    user["reservations"].append(name)


def _leg(flight, cabin):
    return f"{flight['flight_number']} {flight['date']} {cabin}"


def cancelled(db, reservation_id):
    """A reservation of which every payment is given back."""
    reservation = db["reservations"][reservation_id]
    paid = reservation["payment_history"]
    paid += [{"payment_id": one["payment_id"], "amount": -one["amount"]} for one in paid]
    reservation["status"] = "cancelled"


def other_flights(db, reservation_id, cabin, flights, payment_id):
    """Other flights for the same passengers; the difference in price is paid."""
    reservation = db["reservations"][reservation_id]
    same = {_leg(leg, reservation["cabin"]): leg for leg in reservation["flights"]}
    keep = ("price", "origin", "destination")
    legs = []
    for flight in flights:
        leg = same.get(_leg(flight, cabin)) or db["flights"][_leg(flight, cabin)]
        legs.append({**flight, **{key: leg[key] for key in keep}})
    old, new = (sum(leg["price"] for leg in each) for each in (reservation["flights"], legs))
    _pay(db, reservation, payment_id, (new - old) * len(reservation["passengers"]))
    reservation |= {"flights": legs, "cabin": cabin} if db["keeps cabin"] else {"flights": legs}


def _pay(db, reservation, payment_id, price):
    method = db["users"][reservation["user_id"]]["payment_methods"][payment_id]
    if method["source"] == "gift_card":
        method["amount"] -= price
    if price:
        reservation["payment_history"].append({"payment_id": payment_id, "amount": price})


def other_baggage(db, reservation_id, total_baggages, nonfree_baggages, payment_id):
    """More baggage, paid for; or less."""
    reservation = db["reservations"][reservation_id]
    _pay(db, reservation, payment_id, 50 * max(0, nonfree_baggages - reservation["nonfree_baggages"]))
    reservation |= {"total_baggages": total_baggages, "nonfree_baggages": nonfree_baggages}


def other_passengers(db, reservation_id, passengers):
    """Other names in a reservation."""
    db["reservations"][reservation_id]["passengers"] = passengers


def certificate(db, user_id, amount):
    """One more way to pay."""
    methods = db["users"][user_id]["payment_methods"]
    name = next(n for n in (f"certificate_{n}" for n in (3221322, 3221323, 3221324)) if n not in methods)
    methods[name] = {"source": "certificate", "amount": amount, "id": name}


AIRLINE = {
    "book_reservation": booked,
    "cancel_reservation": cancelled,
    "update_reservation_flights": other_flights,
    "update_reservation_baggages": other_baggage,
    "update_reservation_passengers": other_passengers,
    "send_certificate": certificate,
}


def order_cancelled(db, order_id, reason):
    """An order of which every payment is given back."""
    order = db["orders"][order_id]
    for paid in list(order["payment_history"]):
        order["payment_history"].append({**paid, "transaction_type": "refund"})
        _on_card(db, order, paid["payment_method_id"], paid["amount"])
    order |= {"status": "cancelled", "cancel_reason": reason}


def _on_card(db, order, payment_method_id, amount):
    if "gift_card" in payment_method_id:
        card = db["users"][order["user_id"]]["payment_methods"][payment_method_id]
        card["balance"] = round(card["balance"] + amount, 2)


def _difference(db, order, item_ids, new_item_ids):
    price = {item["item_id"]: item["price"] for item in order["items"]}
    return sum(
        db["variants"][new]["price"] - price[old] for old, new in zip(item_ids, new_item_ids, strict=True)
    )


def items_changed(db, order_id, item_ids, new_item_ids, payment_method_id):
    """Other items in an order that is pending."""
    order = db["orders"][order_id]
    price = _difference(db, order, item_ids, new_item_ids)
    kind = "payment" if price > 0 else "refund"
    paid = {"transaction_type": kind, "amount": abs(price), "payment_method_id": payment_method_id}
    order["payment_history"].append(paid)
    _on_card(db, order, payment_method_id, -price)
    for old, new in zip(item_ids, new_item_ids, strict=True):
        item = next(item for item in order["items"] if item["item_id"] == old)
        item |= {"item_id": new, **db["variants"][new]}
    order["status"] = "pending (item modified)"


def items_exchanged(db, order_id, item_ids, new_item_ids, payment_method_id):
    """An exchange of what was delivered is asked for."""
    order = db["orders"][order_id]
    order |= {
        "status": "exchange requested",
        "exchange_items": sorted(item_ids),
        "exchange_new_items": sorted(new_item_ids),
        "exchange_payment_method_id": payment_method_id,
        "exchange_price_difference": round(_difference(db, order, item_ids, new_item_ids), 2),
    }


def items_returned(db, order_id, item_ids, payment_method_id):
    """A return of what was delivered is asked for."""
    order = db["orders"][order_id]
    first = order["payment_history"][0]["payment_method_id"]
    if payment_method_id != first and "gift_card" not in payment_method_id:
        return  # the one expected call that the benchmark itself refuses
    order |= {
        "status": "return requested",
        "return_items": sorted(item_ids),
        "return_payment_method_id": payment_method_id,
    }


def order_address(db, order_id, **address):
    """An order goes elsewhere."""
    db["orders"][order_id]["address"] = address


def user_address(db, user_id, **address):
    """A user lives elsewhere."""
    db["users"][user_id]["address"] = address


def other_payment(db, order_id, payment_method_id):
    """An order is paid for in another way."""
    order = db["orders"][order_id]
    first = order["payment_history"][0]
    order["payment_history"] += [
        {**first, "payment_method_id": payment_method_id},
        {**first, "transaction_type": "refund"},
    ]
    _on_card(db, order, payment_method_id, -first["amount"])
    _on_card(db, order, first["payment_method_id"], first["amount"])


RETAIL = {
    "cancel_pending_order": order_cancelled,
    "modify_pending_order_items": items_changed,
    "exchange_delivered_order_items": items_exchanged,
    "return_delivered_order_items": items_returned,
    "modify_pending_order_address": order_address,
    "modify_user_address": user_address,
    "modify_pending_order_payment": other_payment,
}

ROWS = {
    "get_user_details": ("users", "user_id"),
    "get_reservation_details": ("reservations", "reservation_id"),
    "get_order_details": ("orders", "order_id"),
}


def succeeded(call):
    """Whether a recorded call did what it was to do."""
    return not call.get("error") and not str(call.get("output")).startswith("Error")


def database(runs):
    """What the runs read of the database before they wrote to it."""
    db = {"users": {}, "reservations": {}, "orders": {}, "flights": {}, "variants": {}}
    for run in runs:
        written = False
        for call in filter(succeeded, run["actual"]):
            written = written or call["kind"] == "write"
            try:
                output = json.loads(call["output"])
            except (TypeError, ValueError):
                continue
            table, key = ROWS.get(call["name"], ("", ""))
            if table and not written:
                db[table].setdefault(call["args"][key], output)
            elif call["name"] == "get_product_details":
                for name, variant in output["variants"].items():
                    db["variants"][name] = {key: variant[key] for key in ("price", "options")}
            elif call["name"].startswith("search_"):
                _learn(db["flights"], output, call["args"]["date"])
            elif call["name"] in ("book_reservation", "update_reservation_flights"):
                for leg in output["flights"]:  # its price is that of its cabin
                    known = {key: leg[key] for key in ("price", "origin", "destination")}
                    db["flights"].setdefault(_leg(leg, call["args"]["cabin"]), known)
    return db


def _learn(flights, output, date):
    for leg in output:
        if isinstance(leg, list):
            _learn(flights, leg, date)
        elif isinstance(leg, dict) and "prices" in leg:
            for cabin, price in leg["prices"].items():
                known = {"price": price, "origin": leg["origin"], "destination": leg["destination"]}
                flights[_leg({**leg, "date": leg.get("date") or date}, cabin)] = known
